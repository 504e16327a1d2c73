// The second bug: one directory per destination, shared by all processes, made with `recursive` and removed by whoever is last. Eight processes do
// that beside eight that each have a Warren. The first kind breaks within a second or so; the second never does.
//   npm run -s bundle && node examples/original-bugs/shared-directory.mjs
import { fork } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTunnelPool } from 'ssh-warren'
import { startFleet } from 'ssh-warren/testing'

const PROCESSES = 8
const MILLIS = 3_000
const [how, base] = process.argv.slice(2)
const until = Date.now() + MILLIS

function shared() {
  for (let n = 0; ; n += 1) {
    if (Date.now() > until) return { rounds: n }
    const directory = join(base, `gpu-${n % 5}`)
    try {
      mkdirSync(directory, { recursive: true })
      writeFileSync(join(directory, `socket-${process.pid}`), '')
      if (!existsSync(join(directory, `socket-${process.pid}`))) throw new Error('its socket is gone')
      rmSync(directory, { recursive: true })
    } catch (error) {
      return { rounds: n, error: error.code ?? error.message }
    }
  }
}

async function owned() {
  const fleet = await startFleet()
  const [{ target, http }] = fleet.hosts
  for (let n = 0; ; n += 1) {
    if (Date.now() > until) return { rounds: n }
    const pool = createTunnelPool({ runtimeDirectory: base })
    try {
      const lease = await pool.acquire(target, { forwards: { web: { to: http } } })
      if (!existsSync(lease.forwards.web.address.socketPath)) throw new Error('its socket is gone')
      lease.release()
    } catch (error) {
      return { rounds: n, error: error.code ?? error.message }
    } finally {
      await pool.close()
    }
  }
}

if (how !== undefined) process.send(how === 'shared' ? shared() : await owned(), () => process.exit())
else {
  let broken = 0
  for (const kind of ['shared', 'owned']) {
    const place = mkdtempSync(join(tmpdir(), 'race-'))
    const results = await Promise.all(
      Array.from(
        { length: PROCESSES },
        () => new Promise((resolve) => fork(fileURLToPath(import.meta.url), [kind, place]).once('message', resolve)),
      ),
    )
    const errors = results.flatMap(({ error }) => error ?? [])
    const rounds = results.reduce((sum, one) => sum + one.rounds, 0)
    process.stdout.write(
      `${kind}: ${rounds} rounds, ${errors.length} of ${PROCESSES} processes broke ${[...new Set(errors)].join(', ')}\n`,
    )
    if (kind === 'owned') broken = errors.length + readdirSync(place).length
    rmSync(place, { recursive: true, force: true })
  }
  process.exitCode = broken === 0 ? 0 : 1
}
