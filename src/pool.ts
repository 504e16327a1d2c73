import type { Agent } from 'node:http'
import { PooledBerth } from './actors/berth.ts'
import { healthOf, UNKNOWN } from './actors/health.ts'
import { PoolLife } from './actors/pool-life.ts'
import { reportOf } from './actors/report.ts'
import { abortedBy } from './actors/waiter.ts'
import type { ForwardSpec, Forwards, Remote, Standing } from './api/forward.ts'
import type { AcquireOptions, Lease, NoForwards, TunnelSocket } from './api/lease.ts'
import type { PoolOptions } from './api/options.ts'
import type { TunnelPool } from './api/pool.ts'
import type { Health, LedgerEntry, PoolFacts, PoolReport, PoolStats } from './api/report.ts'
import type { Target } from './api/target.ts'
import { assemble, type Replacements } from './assemble.ts'
import type { Claim } from './channels/forwards.ts'
import { ChannelSocket } from './channels/socket.ts'
import { TunnelError } from './errors.ts'
import { createAgent } from './http/agent.ts'
import type { Berth } from './http/berth.ts'
import { offerBerths } from './http/berths.ts'
import { UserLease } from './lease.ts'
import { leaseWithForwards } from './lease-with-forwards.ts'
import { isTraced, traced } from './observe/tracing.ts'
import { acquireDefaults, type ResolvedAcquireOptions, resolveAcquireOptions, resolveUseOptions } from './options/acquire.ts'
import { resolveAgentOptions } from './options/agent.ts'
import {
  resolveCloseTimeout,
  resolveListenOptions,
  resolveProbeOptions,
  resolveRetireOptions,
  resolveSignal,
} from './options/calls.ts'
import { resolveForward } from './options/forward.ts'
import { resolveRemote } from './options/remote.ts'
import { remoteName } from './remote.ts'
import { Targets } from './target/targets.ts'
import type { ResolvedTarget } from './target.ts'
import { warmAll } from './warm.ts'

/** A pool of SSH tunnels; see `TunnelPool` for what each method promises. */
export class Pool implements TunnelPool {
  readonly #life: PoolLife
  readonly #targets: Targets
  readonly #defaults: ResolvedAcquireOptions

  /** @internal */
  constructor(options?: PoolOptions, replacements: Replacements = {}) {
    const assembly = assemble(options, replacements)
    const { options: checked } = assembly.parts
    this.#targets = new Targets(checked)
    this.#defaults = acquireDefaults(checked.acquireTimeoutMillis)
    offerBerths(this, (target, to) => this.#berth(target, to))
    this.#life = new PoolLife(assembly, (key) => this.#targets.forget(key), replacements.machines ?? {}, this)
  }

  async acquire<const F extends Forwards = NoForwards>(target: Target, options?: AcquireOptions<F>): Promise<Lease<F>> {
    return await this.#acquire<F>(target, resolveAcquireOptions(options, this.#defaults))
  }

  async use<T, const F extends Forwards = NoForwards>(
    target: Target,
    fn: (lease: Lease<F>) => T | Promise<T>,
    options?: AcquireOptions<F> & { retries?: number | undefined },
  ): Promise<T> {
    const { acquire, retries } = resolveUseOptions(options, this.#defaults)
    const stack = this.#trace()
    for (let tries = retries; ; tries -= 1) {
      const lease = await this.#acquire<F>(target, acquire, stack)
      try {
        return await fn(lease)
      } catch (error) {
        const isLoss = lease.signal.aborted && lease.signal.reason?.code === 'ERR_LOST'
        if (!isLoss || tries === 0) throw error
      } finally {
        lease.release()
      }
    }
  }

  /** Where the caller is, taken before anything is awaited. */
  #trace(): string | undefined {
    return this.#life.parts.options.traceLeases ? new Error('acquired').stack : undefined
  }

  async #acquire<F extends Forwards>(target: Target, options: ResolvedAcquireOptions, stack = this.#trace()): Promise<Lease<F>> {
    const resolved = this.#targets.resolve(target)
    const { clock, hold } = this.#life.parts
    const until = clock.now() + options.timeoutMillis
    if (options.signal?.aborted) throw abortedBy(options.signal)
    this.#life.assertOpen()
    const give = () => this.#life.registry.acquire(resolved, options, stack)
    const given = isTraced('acquire')
      ? traced('acquire', { destination: resolved.id, label: options.label }, async () => await give())
      : give()
    const record = given instanceof Promise ? await hold.during(given) : given
    if (options.forwards.length === 0) return new UserLease<F>(record, NO_CLAIMS)
    return await hold.during(leaseWithForwards<F>(record, options, until))
  }

  async listen<const S extends ForwardSpec>(
    target: Target,
    spec: S,
    options?: { eager?: boolean | undefined; signal?: AbortSignal | undefined; label?: string | undefined },
  ): Promise<Standing<S>> {
    const { isEager, signal, label } = resolveListenOptions(options)
    const resolve = (given: Target) => this.#targets.resolve(given)
    const plan = { spec: resolveForward(spec), isEager, label, resolve }
    const resolved = resolve(target)
    if (signal?.aborted) throw abortedBy(signal)
    this.#life.assertOpen()
    return await this.#life.parts.hold.during(this.#life.standings.listen<S>(resolved, plan, signal))
  }

  agentFor(target: Target, to?: Remote, options?: Parameters<TunnelPool['agentFor']>[2]): Agent {
    this.#targets.resolve(target)
    const remote = to === undefined ? undefined : resolveRemote(to)
    return createAgent({ open: (where) => this.#berth(target, where), to: remote, ...resolveAgentOptions(options) })
  }

  /** A socket for one request after the other; see `src/http/berth.ts`. */
  #berth(target: Target, to: Remote): Berth {
    return new PooledBerth(this.#life, this.#targets.resolve(target), this.#defaults, resolveRemote(to))
  }

  socket(target: Target, to: Remote): TunnelSocket {
    const remote = resolveRemote(to)
    this.#targets.resolve(target)
    const { channelTimeoutMillis } = this.#life.parts.options
    const socket: ChannelSocket = new ChannelSocket({
      remoteAddress: remoteName(remote),
      open: async (signal) => {
        const lease = await this.#acquire(target, { ...this.#defaults, signal })
        socket.once('close', () => lease.release())
        if (socket.destroyed) lease.release()
        return (await lease.connect(remote, { signal, timeoutMillis: channelTimeoutMillis })) as ChannelSocket
      },
    })
    return socket
  }

  async warm(targets: readonly Target[], options?: { signal?: AbortSignal | undefined }): ReturnType<TunnelPool['warm']> {
    const signal = resolveSignal(options)
    const resolved = targets.map((target) => this.#targets.resolve(target))
    const { maxTunnels, maxConnecting } = this.#life.parts.options
    const keys = new Set<string>()
    for (const target of resolved)
      for (let each: ResolvedTarget | undefined = target; each !== undefined; each = each.jump) keys.add(each.key)
    if (keys.size > maxTunnels)
      throw new TunnelError('ERR_POOL_EXHAUSTED', `${keys.size} targets and jumps do not fit into maxTunnels (${maxTunnels})`)
    this.#life.assertOpen()
    const acquire = async (index: number) => {
      const lease = await this.#acquire(targets[index] as Target, { ...this.#defaults, signal })
      lease.release()
    }
    return await warmAll(resolved, acquire, maxConnecting)
  }

  async retire(target: Target, options?: { reason?: string | undefined; force?: boolean | undefined }): Promise<void> {
    const { isForced, reason } = resolveRetireOptions(options)
    const destination = this.#life.registry.find(this.#targets.resolve(target))
    if (destination !== undefined) await this.#life.parts.hold.during(destination.retire(isForced, reason))
  }

  reset(target: Target): void {
    // What keeps a target from being dialled may be any of its jumps.
    let each: ResolvedTarget | undefined = this.#targets.resolve(target)
    for (; each !== undefined; each = each.jump) this.#life.registry.find(each)?.reset()
  }

  async probe(
    target: Target,
    options?: { dial?: boolean | undefined; signal?: AbortSignal | undefined; timeoutMillis?: number | undefined },
  ): Promise<Health> {
    const { isDialing, signal, timeoutMillis } = resolveProbeOptions(options, this.#life.parts.options.channelTimeoutMillis)
    const { hold } = this.#life.parts
    const find = () => this.#life.registry.find(resolved)?.current
    const resolved = this.#targets.resolve(target)
    if (signal?.aborted) throw abortedBy(signal)
    this.#life.assertOpen()
    if (isDialing && find() === undefined) {
      // A bound that is given holds for all of it; the usual one is for a round trip, and too short for a dial.
      const bounds = options?.timeoutMillis === undefined ? this.#defaults : { ...this.#defaults, timeoutMillis }
      const lease = await this.#acquire(target, { ...bounds, signal, whenResting: 'dial' }).catch((error) => {
        if (error.code === 'ERR_ABORTED' || error.code === 'ERR_POOL_CLOSED') throw error
      })
      lease?.release()
    }
    await hold.during(find()?.proof.prove({ signal, timeoutMillis }) ?? Promise.resolve())
    return this.health(target)
  }

  health(target: Target): Health {
    const destination = this.#life.registry.find(this.#targets.resolve(target))
    return destination === undefined ? UNKNOWN : healthOf(destination)
  }

  inspect(observer: Parameters<TunnelPool['inspect']>[0]): () => void {
    return this.#life.inspect(observer)
  }

  on<E extends keyof PoolFacts>(event: E, listener: (fact: PoolFacts[E]) => void): this {
    this.#life.parts.facts.on(event, listener)
    return this
  }

  off<E extends keyof PoolFacts>(event: E, listener: (fact: PoolFacts[E]) => void): this {
    this.#life.parts.facts.off(event, listener)
    return this
  }

  get stats(): PoolStats {
    return this.#life.parts.tally.snapshot()
  }

  report(): PoolReport {
    return reportOf(this.#life.registry.all())
  }

  resources(): readonly LedgerEntry[] {
    return this.#life.parts.ledger.entries()
  }

  async settled(): Promise<void> {
    await this.#life.parts.hold.during(this.#life.parts.tally.settled())
  }

  async close(options?: { timeoutMillis?: number | undefined }): Promise<void> {
    await this.#life.close(resolveCloseTimeout(options, this.#life.parts.options.drainTimeoutMillis))
  }

  async destroy(reason?: Error): Promise<void> {
    await this.#life.destroy(reason)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

const NO_CLAIMS: ReadonlyMap<string, Claim> = new Map()
