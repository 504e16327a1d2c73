import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MILLIS = 2

/**
 * Waits for a fact: until `fact` gives something truthy without throwing, which is then the result.
 *
 * @param options.within longest wait in ms; default 10_000: a busy machine must not decide
 * @param options.what names the fact in the error; default: its source
 * @throws {Error} that names the fact; its cause is what the fact threw last
 */
export async function until<T>(fact: () => T | Promise<T>, options: { within?: number; what?: string } = {}): Promise<T> {
  const { within = 10_000, what = fact.toString() } = options
  const deadline = performance.now() + within
  let cause: unknown
  while (performance.now() < deadline) {
    try {
      const value = await before(deadline, fact)
      if (value) return value
      cause = undefined
    } catch (error) {
      cause = error
    }
    await sleep(POLL_MILLIS)
  }
  throw new Error(`not within ${within} ms: ${what}`, { cause })
}

async function before<T>(deadline: number, fact: () => T | Promise<T>): Promise<T> {
  const value = fact()
  if (!(value instanceof Promise)) return value
  const late = new AbortController()
  try {
    return await Promise.race([
      value,
      sleep(deadline - performance.now(), undefined, { signal: late.signal }).then(() => Promise.reject(new Error('no answer'))),
    ])
  } finally {
    late.abort()
  }
}
