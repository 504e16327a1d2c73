import type { Clock } from '../clock.ts'
import { TunnelError } from '../errors.ts'
import type { ResolvedAcquireOptions } from '../options/acquire.ts'

/** Where a destination stands, as far as asking for a dial goes. */
export interface Standing {
  readonly state: string
  /** Barred for so long by now that one attempt may be asked for. */
  readonly isRipe: boolean
}

/** What keeps a destination from being dialled, and until when. */
export class Resting {
  readonly #clock: Clock
  readonly #id: string
  #until = Number.NEGATIVE_INFINITY
  retryAt: Date | undefined
  /** Why it does not serve, as far as known; forgotten once it does. */
  cause: TunnelError | undefined

  constructor(clock: Clock, id: string) {
    this.#clock = clock
    this.#id = id
  }

  begin(millis: number, cause: TunnelError | undefined): void {
    this.#until = this.#clock.now() + millis
    this.retryAt = millis === Number.POSITIVE_INFINITY ? undefined : new Date(this.#clock.date().getTime() + millis)
    this.cause = cause
  }

  end(): void {
    this.#until = Number.NEGATIVE_INFINITY
    this.retryAt = undefined
    this.cause = undefined
  }

  get isOver(): boolean {
    return this.#clock.now() >= this.#until
  }

  /** Why an acquire cannot even wait here; `undefined` when it can. `deadline` is monotonic. */
  refusal({ state, isRipe }: Standing, { whenResting }: ResolvedAcquireOptions, deadline: number): TunnelError | undefined {
    if (state === 'barred') return whenResting === 'dial' && isRipe ? undefined : this.#refuse('is barred until `reset`')
    if (state !== 'resting' || whenResting === 'dial') return undefined
    if (whenResting === 'reject') return this.#refuse('rests after a failed dial')
    return deadline < this.#until ? this.#refuse('rests for longer than this acquire may wait') : undefined
  }

  #refuse(what: string): TunnelError {
    const { retryAt, cause } = this
    const when = retryAt === undefined ? '' : `, next attempt ${retryAt.toISOString()}`
    const why = cause === undefined ? '' : `: ${cause.message}`
    return new TunnelError('ERR_CIRCUIT_OPEN', `${this.#id} ${what}${when}${why}`, {
      cause,
      retryAt,
      phase: cause?.phase,
      hop: cause?.hop,
    })
  }
}
