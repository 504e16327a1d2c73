import type { Agent, AgentOptions } from 'node:http'
import type { ConnectionOptions } from 'node:tls'
import type { TunnelError } from '../errors.ts'
import type { ForwardSpec, Forwards, Remote, Standing } from './forward.ts'
import type { AcquireOptions, Lease, NoForwards, TunnelSocket } from './lease.ts'
import type { Health, InspectedEvent, LedgerEntry, PoolFacts, PoolReport, PoolStats } from './report.ts'
import type { Target } from './target.ts'

/** The process is held exactly while a promise is pending, a lease is out, or a standing endpoint listens. */
export interface TunnelPool extends AsyncDisposable {
  acquire<const F extends Forwards = NoForwards>(target: Target, options?: AcquireOptions<F>): Promise<Lease<F>>
  /** Runs `fn` with a lease; up to `retries` (0) times more, each only because the tunnel was lost under it. Released with a fault when `fn` throws that loss. */
  use<T, const F extends Forwards = NoForwards>(
    target: Target,
    fn: (lease: Lease<F>) => T | Promise<T>,
    options?: AcquireOptions<F> & { retries?: number | undefined },
  ): Promise<T>
  /** Local and dynamic dial on first use (or `eager`), reverse at once. */
  listen<const S extends ForwardSpec>(
    target: Target,
    spec: S,
    options?: { eager?: boolean | undefined; signal?: AbortSignal | undefined; label?: string | undefined },
  ): Promise<Standing<S>>
  socket(target: Target, to: Remote): TunnelSocket
  /** `to` omitted: the request's own host and port, as seen from the target. With `tls` for https.request, without for http.request; keepAlive is true by default. */
  agentFor(target: Target, to?: Remote, options?: AgentOptions & { tls?: true | ConnectionOptions | undefined }): Agent
  /** Dials ahead, bounded; results in the order of targets; refuses more than `maxTunnels`. */
  warm(
    targets: readonly Target[],
    options?: { signal?: AbortSignal | undefined },
  ): Promise<Array<{ destination: string; error?: TunnelError | undefined }>>
  /** Recycles: successor first when there is room; resolves when the old generation is final. */
  retire(target: Target, options?: { reason?: string | undefined; force?: boolean | undefined }): Promise<void>
  /** Lifts a bar and the back-off. */
  reset(target: Target): void
  /** A round trip through the connection, now, within `channelTimeoutMillis`; resolves with Health also when the host is down. Never dials unless asked. */
  probe(
    target: Target,
    options?: { dial?: boolean | undefined; signal?: AbortSignal | undefined; timeoutMillis?: number | undefined },
  ): Promise<Health>
  health(target: Target): Health
  /** XState inspection events as one tree, allow-listed, secret-free; takes what Stately's inspectors give. Returns the detach function. */
  inspect(observer: ((event: InspectedEvent) => void) | { next?: ((event: never) => void) | undefined }): () => void
  on<E extends keyof PoolFacts>(event: E, listener: (fact: PoolFacts[E]) => void): this
  off<E extends keyof PoolFacts>(event: E, listener: (fact: PoolFacts[E]) => void): this
  readonly stats: PoolStats
  report(): PoolReport
  resources(): readonly LedgerEntry[]
  /** Resolves when nothing is opening or draining. */
  settled(): Promise<void>
  /** Graceful for timeoutMillis (default `drainTimeoutMillis`; 0 begins with releasing), then by force. Resolves when the ledger is empty; rejects with `ERR_STUCK` (listing what will not die) after timeoutMillis + closeGraceMillis, keeps trying, may be awaited again. */
  close(options?: { timeoutMillis?: number | undefined }): Promise<void>
  /** `close` without the graceful step; `reason` becomes the cause that leases and waiters see. */
  destroy(reason?: Error): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
