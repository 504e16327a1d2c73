import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../api/options.ts'
import type { TunnelPool } from '../../api/pool.ts'
import type { TransportName } from '../../api/target.ts'
import { createTunnelPool } from '../../create-pool.ts'
import { census, type Fleet, type FleetHost, startFleet } from '../../testing/index.ts'
import { httpCheck } from '../http-check.ts'
import { audit } from './audit.ts'
import { Row } from './row.ts'
import { SCRIPT } from './script.ts'
import { painter, tableMaker } from './table.ts'

const HOSTS = 25
const EVERY_MILLIS = 500
const REDRAW_MILLIS = 100
const EVENTS = 6

export interface DemoOptions {
  readonly seconds: number
  readonly transport: TransportName
  readonly isLive: boolean
  readonly isColoured: boolean
  readonly write: (text: string) => void
  readonly logger: Logger | undefined
}

const nameOf = (index: number) => `host-${String(index + 1).padStart(2, '0')}`

/** The last lines, always as many, so that the table does not jump. */
const lastOf = (events: readonly string[]) => [...Array<string>(EVENTS).fill(' '), ...events].slice(-EVENTS)

/** How long a check and an opening may take: a child takes 60 ms of CPU to open, and two per core do so at once. */
const PATIENCE = { ssh2: { checkMillis: 1_200, openMillis: 1_500 }, openssh: { checkMillis: 3_000, openMillis: 4_000 } } as const

/** Short times, so that all there is to see fits into a few seconds. */
const openPool = (transport: TransportName, logger: Logger | undefined): TunnelPool =>
  createTunnelPool({
    transport,
    logger,
    keepAliveIntervalMillis: 500,
    keepAliveCountMax: 2,
    openTimeoutMillis: PATIENCE[transport].openMillis,
    acquireTimeoutMillis: PATIENCE[transport].openMillis + 500,
    channelTimeoutMillis: 1_000,
    verifyAfterMillis: 1_000,
    backoffMinMillis: 250,
    backoffMaxMillis: 1_500,
    drainTimeoutMillis: 2_000,
  })

async function check(pool: TunnelPool, host: FleetHost, row: Row, withinMillis: number): Promise<void> {
  const signal = AbortSignal.timeout(withinMillis)
  const began = performance.now()
  try {
    const lease = await pool.acquire(host.target, { signal, label: 'demo' })
    row.generation = lease.generation
    row.leases += 1
    try {
      const { status } = await httpCheck(lease, host.http, '/health', signal)
      if (status !== 200) throw new Error(`HTTP ${status}`)
      row.passed(performance.now() - began)
    } finally {
      row.leases -= 1
      lease.release()
    }
  } catch (error) {
    row.failed(signal.aborted ? new Error('no answer in time') : error)
  }
  row.state = pool.health(host.target).state
}

/** Checks one host again and again, never twice at once, until told to stop. */
async function watch(pool: TunnelPool, host: FleetHost, row: Row, withinMillis: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const next = performance.now() + EVERY_MILLIS
    await check(pool, host, row, withinMillis)
    await pause(Math.max(0, next - performance.now()), undefined, { signal }).catch(() => {
      // The demo is over.
    })
  }
}

/** Lets the misfortunes of the script happen, each at its time; the result ends those that are not over, so that what the hosts hold is not taken for ours. */
function play(fleet: Fleet, say: (text: string) => void): () => void {
  const ongoing = new Set<() => void>()
  const timers = SCRIPT.flatMap(({ atMillis, host, what, begin, endMillis = Number.POSITIVE_INFINITY, end }) => {
    const victim = fleet.hosts[host]
    if (victim === undefined) return []
    const over = () => {
      if (ongoing.delete(over)) end?.(victim)
    }
    const start = setTimeout(() => {
      say(`${nameOf(host)} ${what}`)
      ongoing.add(over)
      begin(victim)
    }, atMillis)
    if (end === undefined || endMillis === Number.POSITIVE_INFINITY) return [start]
    const stop = setTimeout(() => {
      say(`${nameOf(host)} is well again`)
      over()
    }, endMillis)
    return [start, stop]
  })
  return () => {
    timers.forEach(clearTimeout)
    for (const over of [...ongoing]) over()
  }
}

/** Tells each change of a host's state in a line, for whoever reads a log. */
function tellChanges(rows: readonly Row[], say: (text: string) => void): () => void {
  const before = rows.map(() => '')
  return () => {
    rows.forEach((row, index) => {
      const now = row.isWell ? `${row.state}, generation ${row.generation}` : `${row.state}: ${row.reason}`
      if (now !== before[index] && before[index] !== '') say(`${row.name} → ${now}`)
      before[index] = now
    })
  }
}

/** Runs the demo; resolves with the exit code: 1 if anything is left behind. */
export async function runDemo({ seconds, transport, isLive, isColoured, write, logger }: DemoOptions): Promise<number> {
  const paint = painter(isColoured)
  const draw = isLive ? await tableMaker() : undefined
  const live = isLive ? (await import('log-update')).default : undefined
  const fleet = await startFleet({ hosts: HOSTS })
  const baseline = await census()
  const pool = openPool(transport, logger)
  const rows = fleet.hosts.map((_, index) => new Row(nameOf(index)))
  const began = performance.now()
  const events: string[] = []
  const say = (text: string) => {
    const line = `${((performance.now() - began) / 1_000).toFixed(1).padStart(5)} s  ${text}`
    events.push(line)
    if (live === undefined) write(`${line}\n`)
  }
  write(
    `${HOSTS} SSH hosts, each checked every ${EVERY_MILLIS} ms through one shared tunnel by ${transport}, for ${seconds} s.\n`,
  )
  const stopping = new AbortController()
  setMaxListeners(HOSTS + 1, stopping.signal)
  const stopScript = play(fleet, say)
  const tell = tellChanges(rows, say)
  const redraw = setInterval(() => {
    tell()
    if (live !== undefined && draw !== undefined) live(`${draw(rows, paint)}\n\n${lastOf(events).join('\n')}`)
  }, REDRAW_MILLIS)
  try {
    const watching = fleet.hosts.map((host, index) =>
      watch(pool, host, rows[index] as Row, PATIENCE[transport].checkMillis, stopping.signal),
    )
    await pause(seconds * 1_000)
    stopping.abort()
    await Promise.all(watching)
  } finally {
    clearInterval(redraw)
    stopScript()
    live?.done()
  }
  const checks = rows.reduce((sum, row) => sum + row.checks, 0)
  const failures = rows.reduce((sum, row) => sum + row.failures, 0)
  const closing = performance.now()
  await pool.close()
  const closeMillis = (performance.now() - closing).toFixed(0)
  const logins = fleet.hosts.reduce((sum, host) => sum + host.counts.logins, 0)
  const { lines, isClean } = await audit(pool, baseline)
  await fleet.close()
  write(`\n${checks} checks (${failures} failed) over ${logins} logins; closed in ${closeMillis} ms.\n`)
  for (const line of lines) write(`${line}\n`)
  write(isClean ? paint('green', 'Nothing is left.\n') : paint('red', 'SOMETHING IS LEFT.\n'))
  return isClean ? 0 : 1
}
