import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, mkdirSync, mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTunnelPool, type Target } from '../src/index.ts'
import { startSshd } from '../test/support/sshd.ts'

/**
 * `npx tsx bench/openssh-open.ts [rounds]`: a cold open by transport 'openssh' against bare `ssh -N` to its control socket, alternately in one run.
 * The bare one twice: as anybody would call it, and with the algorithms that the pool asks for. Then the loop stall of an open, with 1 GiB resident.
 */
const ROUNDS = Number(process.argv[2] ?? 40)
const say = (text: string) => process.stdout.write(`${text}\n`)
const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const sshd = await startSshd({ config: { MaxStartups: '100' } })
const base = mkdtempSync(join(tmpdir(), 'bench-open-'))
const target: Target = { ...sshd.target, hostKey: { pinned: sshd.hostKeyLine }, transport: 'openssh' }
writeFileSync(join(base, 'known'), `[127.0.0.1]:${sshd.port} ${sshd.hostKeyLine}\n`)

let directories = 0
async function bare(more: readonly string[]): Promise<number> {
  const directory = join(base, String(++directories))
  mkdirSync(directory)
  const control = join(directory, 'c')
  const there = () => lstatSync(control, { throwIfNoEntry: false })?.isSocket() === true
  const options = [
    `UserKnownHostsFile=${base}/known`,
    'StrictHostKeyChecking=yes',
    'BatchMode=yes',
    'IdentitiesOnly=yes',
    ...more,
  ]
  const words = [
    '-F',
    'none',
    '-N',
    '-M',
    '-S',
    control,
    '-i',
    sshd.keyPath,
    '-p',
    String(sshd.port),
    ...options.flatMap((each) => ['-o', each]),
  ]
  const began = performance.now()
  const child = spawn('ssh', [...words, `${sshd.user}@${sshd.host}`], { stdio: ['ignore', 'ignore', 'inherit'] })
  await new Promise<void>((resolve) => {
    const watcher = watch(directory, () => {
      if (!there()) return
      watcher.close()
      resolve()
    })
  })
  const millis = performance.now() - began
  child.kill()
  await once(child, 'exit')
  rmSync(directory, { recursive: true })
  return millis
}

const pool = createTunnelPool({ maxTunnels: 10 })
let keys = 0
async function pooled(): Promise<number> {
  // Another key each time, so that each is a destination that nobody knows.
  const fresh = { ...target, keepAliveCountMax: 3 + ++keys }
  const began = performance.now()
  const lease = await pool.acquire(fresh)
  const millis = performance.now() - began
  lease.release()
  await pool.retire(fresh)
  return millis
}

const ours = ['Ciphers=aes128-gcm@openssh.com', 'HostKeyAlgorithms=ssh-ed25519']
const taken = { bare: [] as number[], ours: [] as number[], pooled: [] as number[] }
await pooled()
for (let round = 0; round < ROUNDS; round += 1) {
  taken.bare.push(await bare([]))
  taken.pooled.push(await pooled())
  taken.ours.push(await bare(ours))
}
const [plain, same, pool1] = [median(taken.bare), median(taken.ours), median(taken.pooled)]
say(
  `cold open, medians of ${ROUNDS}: pool ${pool1.toFixed(1)} ms, bare ssh -N ${plain.toFixed(1)} ms (${(pool1 / plain).toFixed(3)}×), with our algorithms ${same.toFixed(1)} ms (${(pool1 / same).toFixed(3)}×)`,
)

async function stall(): Promise<number> {
  let worst = 0
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    worst = Math.max(worst, now - last - 1)
    last = now
  }, 1)
  await pooled()
  clearInterval(timer)
  return worst
}
const stalls = async () => {
  const seen: number[] = []
  for (let round = 0; round < 10; round += 1) seen.push(await stall())
  return median(seen)
}
const small = await stalls()
const ballast = Array.from({ length: 16 }, () => Buffer.alloc(64 * 1024 * 1024, 1))
const large = await stalls()
say(`loop stall of an open: ${small.toFixed(1)} ms; with ${ballast.length * 64} MiB more resident ${large.toFixed(1)} ms`)

await pool.close()
await sshd.close()
rmSync(base, { recursive: true })
