import { readFileSync } from 'node:fs'
import { type Finding, note, problem, well } from './finding.ts'

const OLDEST_NODE = [20, 19] as const

/** Node, and the system under it. */
export function examineNode(): Finding {
  const about = 'node'
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])
  if (isOld) return problem(about, `version ${process.versions.node}`, `update it to ${OLDEST_NODE.join('.')} or newer`)
  if (process.platform === 'linux') return well(about, `${process.versions.node} on Linux`)
  return note(about, `${process.versions.node} on ${process.platform}: meant to work, untested`, 'use Linux where it matters')
}

/** Who collects processes whose parent has died. */
export function examineInit(): Finding {
  const about = 'init'
  if (process.pid === 1)
    return note(
      about,
      'this process is PID 1 and does not collect the children of others: what outlives its parent stays a zombie',
      'run the container with --init (tini), or start this by one',
    )
  try {
    const name = readFileSync('/proc/1/comm', 'utf8').trim()
    if (/^(node|bun|deno|npm|yarn|pnpm|python3?|java)$/.test(name))
      return note(
        about,
        `PID 1 is ${name}, which does not collect the children of others`,
        'run the container with --init (tini)',
      )
    return well(about, `PID 1 is ${name}`)
  } catch {
    return note(about, 'PID 1 cannot be examined here', 'no matter for transport `ssh2`')
  }
}
