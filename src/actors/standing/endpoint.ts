import type { ForwardSpec, Standing } from '../../api/forward.ts'
import type { Target } from '../../api/target.ts'
import type { Listening } from '../../channels/ground.ts'
import type { TunnelError } from '../../errors.ts'
import type { ResolvedForward } from '../../options/forward.ts'
import type { ResolvedTarget } from '../../target.ts'
import { quietly } from '../../wait.ts'
import { Attachment } from './attachment.ts'
import { Keeper } from './keeper.ts'
import { listenOnPool } from './listen.ts'
import { Reverse } from './reverse.ts'
import type { Standings } from './standings.ts'
import { Supply } from './supply.ts'

type Event = 'up' | 'down' | 'refused'
type Listener = (fact: { cause?: TunnelError | undefined }) => void

/** What an endpoint is to be. */
export interface Plan {
  readonly spec: ResolvedForward
  readonly isEager: boolean
  readonly label: string | undefined
  readonly resolve: (target: Target) => ResolvedTarget
}

/** An endpoint that stays while tunnels come and go: the pool's, from `listen` to `close`. */
export class Endpoint<S extends ForwardSpec> implements Standing<S> {
  readonly kind: Standing['kind']
  readonly #standings: Standings
  readonly #plan: Plan
  readonly #at: Attachment
  readonly #supply: Supply
  readonly #reverse: Reverse | undefined
  readonly #keeper: Keeper | undefined
  readonly #listeners = new Map<Event, Set<Listener>>()
  #listening: Listening | undefined
  #wasUp = false
  #isRef = true
  #closing: Promise<void> | undefined

  /** @internal */
  constructor(standings: Standings, target: ResolvedTarget, plan: Plan) {
    this.kind = plan.spec.kind
    this.#standings = standings
    this.#plan = plan
    const { parts, registry } = standings
    this.#at = new Attachment(parts, registry, target, plan.label, () => this.#look())
    this.#supply = new Supply(this.#at)
    this.#reverse = plan.spec.kind === 'reverse' ? new Reverse(plan.spec) : undefined
    this.#keeper = plan.isEager || this.#reverse !== undefined ? new Keeper(this.#at, this.#reverse) : undefined
  }

  /** Listens here, or has the server listen; rejects with why not, and has then left nothing. */
  async open(signal: AbortSignal | undefined): Promise<void> {
    const { parts, scope } = this.#standings
    const { spec } = this.#plan
    parts.hold.take()
    this.#at.attach()
    try {
      if (spec.kind !== 'reverse') {
        const refused = (_to: unknown, cause: TunnelError) => this.#emit('refused', cause)
        this.#listening = await listenOnPool(spec, { parts, scope, supply: this.#supply, label: this.#at.target.id, refused })
        this.#keeper?.start()
      } else await this.#keeper?.begin(signal)
    } catch (error) {
      await this.close()
      throw error
    }
    this.#look()
  }

  get address(): Standing<S>['address'] {
    return (this.#listening ?? this.#reverse)?.address as Standing<S>['address']
  }

  get state(): Standing['state'] {
    if (this.#closing !== undefined) return 'dormant'
    const state = this.#at.destination?.state
    if (this.#isUp) return 'up'
    if (state === 'barred') return 'barred'
    return this.#keeper !== undefined || this.#supply.parked > 0 ? 'waiting' : 'dormant'
  }

  get cause(): TunnelError | undefined {
    return this.#isUp ? undefined : (this.#keeper?.cause ?? this.#at.destination?.resting.cause)
  }

  retarget(target: Target): void {
    const resolved = this.#plan.resolve(target)
    if (this.#closing !== undefined || resolved.key === this.#at.target.key) return
    this.#at.move(resolved)
    this.#supply.move()
    this.#keeper?.move()
    this.#look()
  }

  on(event: Event, listener: Listener): this {
    const listeners = this.#listeners.get(event) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(event, listeners)
    return this
  }

  off(event: Event, listener: Listener): this {
    this.#listeners.get(event)?.delete(listener)
    return this
  }

  ref(): this {
    return this.#hold(true)
  }

  unref(): this {
    return this.#hold(false)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): Promise<void> {
    this.#standings.forget(this)
    const left = this.#listening?.close()
    const stopped = this.#keeper?.stop()
    this.#at.leave()
    await Promise.all([left, stopped])
    if (this.#isRef) this.#standings.parts.hold.give()
  }

  get #isUp(): boolean {
    if (this.#reverse !== undefined) return this.#keeper?.isUp === true
    return this.#at.destination?.state === 'serving'
  }

  /** Something has changed: who listens hears of it if it is the endpoint's being up. */
  #look(): void {
    const isUp = this.#closing === undefined && this.#isUp
    if (isUp === this.#wasUp) return
    this.#wasUp = isUp
    this.#emit(isUp ? 'up' : 'down', this.cause)
  }

  #emit(event: Event, cause: TunnelError | undefined): void {
    for (const listener of this.#listeners.get(event) ?? []) this.#standings.parts.facts.tell(() => listener({ cause }))
  }

  #hold(isRef: boolean): this {
    if (isRef === this.#isRef || this.#closing !== undefined) return this
    this.#isRef = isRef
    const { hold } = this.#standings.parts
    if (isRef) hold.take()
    else hold.give()
    return this
  }
}

/** Ends an endpoint without waiting for it. */
export const closeSoon = (endpoint: Pick<Standing, 'close'>): void => quietly(endpoint.close())
