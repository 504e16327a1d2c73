// The bug that Warren was made for: one ssh per health check, under a limit of processes, against a host that hangs for a while. Warren checks the
// same host beside it. As root it goes on as `nobody`, because the limit does not bind root. Needs ssh, prlimit and setpriv (Linux).
//   npm run -s bundle && node examples/original-bugs/spawn-per-check.mjs
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createTunnelPool } from 'ssh-warren'
import { startFleet } from 'ssh-warren/testing'

const LIMIT = 40
const EVERY_MILLIS = 50
const say = (line) => process.stdout.write(`${line}\n`)

if (process.argv[2] !== 'limited') {
  const self = [process.execPath, fileURLToPath(import.meta.url), 'limited']
  const limit = ['prlimit', `--nproc=${LIMIT}`]
  const nobody = process.getuid() === 0 ? ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] : []
  const [program, ...args] = [...nobody, ...limit, ...self]
  process.exit(spawnSync(program, args, { stdio: 'inherit', timeout: 60_000 }).status ?? 1)
}

const fleet = await startFleet()
const [host] = fleet.hosts
const { target } = host
const pool = createTunnelPool({ channelTimeoutMillis: 1_000 })
const naive = { running: new Set(), peak: 0, refused: 0 }
const warren = { checks: 0, peak: 0 }

function spawnOne() {
  const ssh = ['-F', 'none', '-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null']
  const child = spawn('ssh', [...ssh, '-p', String(target.port), `${target.user}@${target.host}`, 'true'], { stdio: 'ignore' })
  child.on('error', ({ code }) => {
    if (code === 'EAGAIN') naive.refused += 1
  })
  if (child.pid === undefined) return
  naive.running.add(child)
  naive.peak = Math.max(naive.peak, naive.running.size)
  child.once('exit', () => naive.running.delete(child))
}

async function checkOne() {
  await pool.probe(target, { dial: true })
  warren.checks += 1
}

await checkOne()
say('second   ssh processes   EAGAIN   Warren: tunnels, processes, checks')
host.freeze()
const timer = setInterval(() => {
  spawnOne()
  void checkOne()
  const { opening, open, draining } = pool.stats.tunnels
  warren.peak = Math.max(warren.peak, opening + open + draining)
}, EVERY_MILLIS)
for (let second = 1; second <= 6; second += 1) {
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  if (second === 4) host.thaw()
  const { opening, open, draining } = pool.stats.tunnels
  say(
    `${second}        ${String(naive.running.size).padEnd(16)}${String(naive.refused).padEnd(9)}${opening + open + draining}, 0, ${warren.checks}`,
  )
}
clearInterval(timer)
for (const child of naive.running) child.kill('SIGKILL')
await pool.close()
await fleet.close()
say(
  `one ssh per check: ${naive.peak} processes at once, ${naive.refused} checks died of EAGAIN; Warren: at most ${warren.peak} tunnels, no process`,
)
process.exitCode = naive.refused > 0 && warren.peak <= 3 ? 0 : 1
