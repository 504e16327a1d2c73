import type { TunnelPool } from '../../api/pool.ts'
import { TunnelError } from '../../errors.ts'
import { shown } from '../../shown.ts'
import { httpCheck } from '../http-check.ts'
import { adviceOn, type Outcome } from './outcome.ts'
import type { Task } from './task.ts'

const nameOf = ({ user, host, port = 22 }: Task['target']) => `${user}@${host.includes(':') ? `[${host}]` : host}:${port}`

const timeUp = (timeoutMillis: number) => new Error(`no answer within ${timeoutMillis} ms`)

/** Runs one check within its time and says what came of it; never rejects. */
export async function runTask(pool: TunnelPool, task: Task, timeoutMillis: number): Promise<Outcome> {
  const { target, http, expect } = task
  const began = performance.now()
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(timeUp(timeoutMillis)), timeoutMillis)
  const base = { target: nameOf(target), label: target.label }
  const outcome = (rest: Omit<Outcome, 'target' | 'label' | 'latencyMillis'>): Outcome => ({
    ...base,
    latencyMillis: performance.now() - began,
    ...rest,
  })
  try {
    const lease = await pool.acquire(target, { timeoutMillis, label: 'warren check' })
    try {
      if (http === undefined) {
        const { lastVerifiedAt } = await pool.probe(target, { timeoutMillis })
        return outcome({
          ok: lastVerifiedAt !== undefined,
          status: undefined,
          code: undefined,
          phase: undefined,
          hop: undefined,
          message: 'SSH answers',
          advice: '',
        })
      }
      const { status, statusText } = await httpCheck(lease, http.to, http.path, controller.signal)
      const ok = status >= expect.from && status <= expect.to
      const message = `HTTP ${status} ${shown(statusText, 60)}`.trim()
      const advice = ok
        ? ''
        : `The tunnel works; the service answered ${http.path} with ${status}, expected ${expect.from} to ${expect.to} (--expect).`
      return outcome({ ok, status, code: ok ? undefined : 'HTTP', phase: undefined, hop: undefined, message, advice })
    } finally {
      lease.release()
    }
  } catch (error) {
    const isTunnel = TunnelError.is(error)
    const message = error instanceof Error ? shown(error.message, 400) : String(error)
    return outcome({
      ok: false,
      status: undefined,
      code: isTunnel ? error.code : 'HTTP',
      phase: isTunnel ? error.phase : 'http',
      hop: isTunnel ? error.hop : undefined,
      message,
      advice: adviceOn(error),
    })
  } finally {
    clearTimeout(timer)
  }
}

/** Runs all checks, so many at once; outcomes in the order of the tasks, each told as it comes. */
export async function runTasks(
  pool: TunnelPool,
  tasks: readonly Task[],
  options: { timeoutMillis: number; concurrency: number; told: (outcome: Outcome) => void },
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  let next = 0
  const worker = async () => {
    for (let index = next++; index < tasks.length; index = next++) {
      const outcome = await runTask(pool, tasks[index] as Task, options.timeoutMillis)
      outcomes[index] = outcome
      options.told(outcome)
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.concurrency, tasks.length) }, worker))
  return outcomes
}
