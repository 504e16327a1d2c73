import type { CheckFact, HealthCheck } from '../../api/monitor.ts'
import type { PoolOptions } from '../../api/options.ts'
import { createTunnelPool } from '../../create-pool.ts'
import { createHealthMonitor } from '../../monitor/monitor.ts'
import { createInspectorServer } from '../../observe/inspector/index.ts'
import { serveMetrics } from '../../observe/metrics/server.ts'
import { shown } from '../../shown.ts'
import { HEALTHY } from '../check/address.ts'
import type { Terminal } from '../check/command.ts'
import type { Task } from '../check/task.ts'
import { Row, reasonOf } from '../demo/row.ts'
import { painter } from '../demo/table.ts'
import { httpCheck } from '../http-check.ts'
import { type Watched, watchTable } from './table.ts'

const REDRAW_MILLIS = 200
/** Below the table: two lines of sums, one of the inspector, one to breathe. */
const FOOT_ROWS = 6

/** What to watch, and how to tell. */
export interface Watch {
  readonly tasks: readonly Task[]
  readonly intervalMillis: number
  readonly timeoutMillis: number | undefined
  readonly pool: PoolOptions
  /** Port of the inspector on 127.0.0.1; `undefined`: none. */
  readonly inspect: number | undefined
  /** Port of the metrics on 127.0.0.1; `undefined`: none. */
  readonly metrics: number | undefined
  readonly isJson: boolean
  readonly isPlain: boolean
  /** Ends it. */
  readonly signal: AbortSignal
}

function checkOf({ target, http, expect }: Task, id: string, { intervalMillis, timeoutMillis }: Watch): HealthCheck {
  const base = { id, target, intervalMillis, ...(timeoutMillis === undefined ? {} : { timeoutMillis }) }
  if (http === undefined) return base
  if (expect === HEALTHY) return { ...base, to: http.to, path: http.path }
  return {
    ...base,
    async check(lease, signal) {
      const { status } = await httpCheck(lease, http.to, http.path, signal)
      if (status < expect.from || status > expect.to) throw new Error(`HTTP ${status}, expected ${expect.from} to ${expect.to}`)
    },
  }
}

/** A name for people, unique: two checks of one host are told apart by what they ask. */
function nameOf({ target, http }: Task, taken: ReadonlyMap<string, unknown>): string {
  const { user, host, port = 22, label } = target
  const login = label ?? `${user}@${host.includes(':') ? `[${host}]` : host}${port === 22 ? '' : `:${port}`}`
  const name = http === undefined || !taken.has(login) ? login : `${login} ${http.path}`
  if (!taken.has(name)) return name
  let count = 2
  while (taken.has(`${name} (${count})`)) count += 1
  return `${name} (${count})`
}

/** Checks all of them until the signal aborts; resolves with the exit code: 1 if any was unhealthy at the end. */
export async function runWatch(watch: Watch, { isLive, isColoured, write }: Terminal): Promise<number> {
  const { tasks, isJson, signal } = watch
  const pool = createTunnelPool(watch.pool)
  const watched = new Map<string, Watched>()
  const checks: HealthCheck[] = []
  for (const task of tasks) {
    const id = nameOf(task, watched)
    watched.set(id, { row: new Row(id), healthy: undefined, since: new Date() })
    checks.push(checkOf(task, id, watch))
  }
  const isTable = isLive && !isJson && !watch.isPlain
  const live = isTable ? (await import('log-update')).default : undefined
  const draw = isTable ? await watchTable() : undefined
  const inspector = watch.inspect === undefined ? undefined : await createInspectorServer(pool, { port: watch.inspect })
  const metrics = watch.metrics === undefined ? undefined : await serveMetrics(pool, watch.metrics)
  const monitor = createHealthMonitor(pool, { checks })
  const say = (text: string) => {
    if (live === undefined && !isJson) write(`${new Date().toISOString()}  ${text}\n`)
  }
  say(`${tasks.length} ${tasks.length === 1 ? 'check' : 'checks'}, each every ${watch.intervalMillis / 1_000} s`)
  if (inspector !== undefined) say(`inspector: ${inspector.url}`)
  if (metrics !== undefined) say(`metrics: ${metrics.url}`)

  const turned = (fact: CheckFact, healthy: boolean) => {
    const known = watched.get(fact.id)
    if (known === undefined) return
    known.healthy = healthy
    known.since = new Date()
    say(healthy ? `${fact.id} is healthy` : `${fact.id} is unhealthy: ${shown(fact.error?.message ?? fact.target, 300)}`)
  }
  monitor.on('healthy', (fact) => turned(fact, true)).on('unhealthy', (fact) => turned(fact, false))
  monitor.on('check', (fact) => {
    const row = watched.get(fact.id)?.row
    if (fact.ok) row?.passed(fact.latencyMillis ?? 0)
    else row?.failed(fact.error ?? new Error(fact.target))
    if (!isJson) return
    const { error, ...rest } = fact
    write(`${JSON.stringify({ at: new Date().toISOString(), ...rest, error: error === undefined ? null : reasonOf(error) })}\n`)
  })
  const paint = painter(isColoured)
  const redraw = () => {
    if (live === undefined || draw === undefined) return
    const { checks: done, healthy, unhealthy, unknown, lagMillis } = monitor.stats
    const size = { width: process.stdout.columns ?? 100, rows: Math.max(3, (process.stdout.rows ?? 40) - FOOT_ROWS) }
    const sums = `${healthy} healthy, ${unhealthy} unhealthy, ${unknown} unknown; ${done} checks, ${lagMillis.toFixed(0)} ms late`
    live([draw([...watched.values()], paint, size), '', sums, ...(inspector === undefined ? [] : [inspector.url])].join('\n'))
  }
  let sums = monitor.stats
  const timer = setInterval(redraw, REDRAW_MILLIS)
  try {
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
  } finally {
    clearInterval(timer)
    redraw()
    live?.done()
    sums = monitor.stats
    await monitor.stop()
    await inspector?.close()
    await metrics?.close()
    await pool.close({ timeoutMillis: 0 })
  }
  const { checks: done, healthy, unhealthy, unknown } = sums
  say(`${done} checks; ${healthy} healthy, ${unhealthy} unhealthy, ${unknown} unknown`)
  return unhealthy > 0 ? 1 : 0
}
