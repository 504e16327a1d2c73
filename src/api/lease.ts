import type { Duplex } from 'node:stream'
import type { Forward, ForwardSpec, Forwards, Remote } from './forward.ts'
import type { TransportName } from './target.ts'

export interface AcquireOptions<F extends Forwards = Forwards> {
  forwards?: F | undefined
  /** Ends this wait only, never a dial that others share. */
  signal?: AbortSignal | undefined
  /** Queue, jumps and dial together. Default: `acquireTimeoutMillis`. */
  timeoutMillis?: number | undefined
  /**
   * What to do while the destination rests or is barred. Default `'reject'`: `ERR_CIRCUIT_OPEN` with the dial's error as `cause` and `retryAt`. `'wait'` waits for `retryAt`, rejects at once when its deadline
   * or a bar makes that vain, and on expiry is `ERR_ACQUIRE_TIMEOUT` with that cause. `'dial'` dials now, coalesced, at most once a second; barred: once after `barredRetryMillis`. `use` with retries and `listen` use `'wait'`.
   */
  whenResting?: 'reject' | 'wait' | 'dial' | undefined
  /** A tunnel of its own: not shared, not reused, closed at release. */
  exclusive?: boolean | undefined
  /** Who holds it: shown in report(), logs and the inspector. */
  label?: string | undefined
}
export type NoForwards = Record<never, never>
export interface Lease<F extends Forwards = NoForwards> extends AsyncDisposable {
  readonly id: string
  /** `user@host:port#n`: never derived from a secret. */
  readonly destination: string
  readonly generation: number
  readonly transport: TransportName
  /** Aborts with a TunnelError as its reason when the tunnel under the lease is lost or destroyed. */
  readonly signal: AbortSignal
  readonly forwards: { readonly [K in keyof F]: Forward<F[K]> }
  forward<const S extends ForwardSpec>(spec: S, options?: { signal?: AbortSignal | undefined }): Promise<Forward<S>>
  /** A stream through the tunnel, without a listener. Default bound: `channelTimeoutMillis`. @throws TunnelError with the server's reason */
  connect(to: Remote, options?: { signal?: AbortSignal | undefined; timeoutMillis?: number | undefined }): Promise<TunnelSocket>
  /** The same at once; failures arrive as its 'error'. For libraries that want a socket now (pg's `stream`). */
  socket(to: Remote): TunnelSocket
  /** Any exit status resolves. No bound by default; `maxOutputBytes` 1_048_576 per stream, more is `ERR_EXEC`. */
  exec(
    command: string,
    options?: {
      signal?: AbortSignal | undefined
      timeoutMillis?: number | undefined
      input?: string | Uint8Array | undefined
      maxOutputBytes?: number | undefined
    },
  ): Promise<ExecResult>
  /**
   * Gives the lease back: destroys the sockets and ends the execs made with it, gives up its claims on forwards; others' connections through a shared listener go on.
   * Idempotent. With a fault this generation is not lent again: it drains, nobody else is cut.
   */
  release(fault?: Error): void
}
export interface ExecResult {
  readonly stdout: Buffer
  readonly stderr: Buffer
  readonly exitCode: number | null
  readonly signal: string | null
}
/** What node:http, undici and database drivers expect of a socket: ends when the server ends, unless `allowHalfOpen` is set to true before. */
export interface TunnelSocket extends Duplex {
  readonly connecting: boolean
  readonly remoteAddress: string | undefined
  /** Already connecting or open: emits 'connect' again when it is (database drivers wait for it). */
  connect(...ignored: unknown[]): this
  setTimeout(millis: number, listener?: () => void): this
  setNoDelay(on?: boolean): this
  setKeepAlive(on?: boolean, delayMillis?: number): this
  ref(): this
  unref(): this
  destroySoon(): void
}
