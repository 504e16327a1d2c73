import { readFileSync } from 'node:fs'
import { type Finding, note, problem, well } from './finding.ts'

/** What a server needs beside its tunnels: files, its own listeners, a database. */
const SPARE = 100

/** The hard limit that the kernel has for this process, by its name in /proc; `undefined` where there is no /proc. Node raises the soft one to it. */
function limitOf(name: string): number | undefined {
  try {
    const line = readFileSync('/proc/self/limits', 'utf8')
      .split('\n')
      .find((one) => one.startsWith(name))
    const [soft] = line?.slice(name.length).trim().split(/\s+/) ?? []
    return soft === undefined ? undefined : soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return undefined
  }
}

/** What is planned. */
export interface Plan {
  readonly tunnels: number
  readonly transport: 'ssh2' | 'openssh'
}

/** Whether so many tunnels have descriptors. */
export function examineDescriptors({ tunnels, transport }: Plan): Finding {
  const about = 'descriptors'
  const limit = limitOf('Max open files')
  if (limit === undefined) return note(about, 'their limit cannot be read here', 'see `ulimit -n`')
  const needed = tunnels * (transport === 'openssh' ? 2 : 1) + SPARE
  if (limit >= needed) return well(about, `${limit} for ${tunnels} tunnels, which need about ${needed}`)
  return problem(
    about,
    `${limit}, and ${tunnels} tunnels need about ${needed}`,
    `raise the limit: LimitNOFILE=${needed} in the systemd unit, \`ulimit -n ${needed}\` in a shell; or lower maxTunnels`,
  )
}

/** Whether so many children may be started. */
export function examineProcesses({ tunnels, transport }: Plan): Finding {
  const about = 'processes'
  if (transport === 'ssh2') return well(about, "none are needed: transport 'ssh2' starts no child")
  const limit = limitOf('Max processes')
  if (limit === undefined) return note(about, 'their limit cannot be read here', 'see `ulimit -u`')
  if (limit >= 2 * tunnels + SPARE) return well(about, `${limit} for ${tunnels} tunnels`)
  return problem(
    about,
    `${limit}, all of this user’s counted, and ${tunnels} tunnels need a child each`,
    `raise the limit: LimitNPROC=${2 * tunnels + SPARE} in the systemd unit, \`ulimit -u\` in a shell; or use transport 'ssh2', which needs none`,
  )
}
