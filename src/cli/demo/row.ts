import { TunnelError } from '../../errors.ts'

const BARS = '▁▂▃▄▅▆▇█'
const KEPT = 12
/** A full bar. */
const SLOW_MILLIS = 400

/** What the demo shows of one host. */
export class Row {
  readonly name: string
  state = 'unknown'
  generation = 0
  leases = 0
  checks = 0
  failures = 0
  /** Why it is not well, in words; empty when it is. */
  reason = ''
  readonly #latencies: Array<number | undefined> = []

  constructor(name: string) {
    this.name = name
  }

  passed(latencyMillis: number): void {
    this.checks += 1
    this.reason = ''
    this.#note(latencyMillis)
  }

  failed(error: unknown): void {
    this.checks += 1
    this.failures += 1
    this.reason = reasonOf(error)
    this.#note(undefined)
  }

  get isWell(): boolean {
    return this.reason === ''
  }

  get latencyMillis(): number | undefined {
    return this.#latencies.at(-1)
  }

  /** The last checks as bars, `×` for one that failed. */
  get sparkline(): string {
    return this.#latencies
      .map((latency) =>
        latency === undefined ? '×' : (BARS[Math.min(BARS.length - 1, Math.floor((latency / SLOW_MILLIS) * BARS.length))] ?? '▁'),
      )
      .join('')
      .padStart(KEPT)
  }

  #note(latency: number | undefined): void {
    this.#latencies.push(latency)
    if (this.#latencies.length > KEPT) this.#latencies.shift()
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ERR_LOST: 'tunnel lost',
  ERR_REFUSED: 'connection refused',
  ERR_RESET: 'connection reset',
  ERR_OPEN_TIMEOUT: 'does not answer',
  ERR_AUTH: 'our key is not accepted',
  ERR_HOST_KEY: 'host key changed: barred until reset',
  ERR_PROTOCOL: 'does not speak SSH',
  ERR_CHANNEL_TIMEOUT: 'no channel in time',
  ERR_ACQUIRE_TIMEOUT: 'no tunnel in time',
}

/** The first cause of a failed check, in a few words. */
export function reasonOf(error: unknown): string {
  if (!TunnelError.is(error)) return error instanceof Error ? error.message : String(error)
  if (error.code === 'ERR_CIRCUIT_OPEN' && TunnelError.is(error.cause)) {
    const rest = reasonOf(error.cause)
    return error.cause.code === 'ERR_HOST_KEY' ? rest : `${rest}; resting`
  }
  return WORDS[error.code] ?? error.code
}
