/** The closed set of reasons; adding one is a minor release, removing one a major. */
export type TunnelErrorCode =
  | 'ERR_INVALID_OPTION'
  | 'ERR_UNSUPPORTED'
  | 'ERR_POOL_CLOSED'
  | 'ERR_POOL_EXHAUSTED'
  | 'ERR_ACQUIRE_TIMEOUT'
  | 'ERR_ABORTED'
  | 'ERR_CIRCUIT_OPEN'
  | 'ERR_OPEN_TIMEOUT'
  | 'ERR_DNS'
  | 'ERR_REFUSED'
  | 'ERR_UNREACHABLE'
  | 'ERR_RESET'
  | 'ERR_KEX'
  | 'ERR_PROTOCOL'
  | 'ERR_HOST_KEY'
  | 'ERR_AUTH'
  | 'ERR_KEY_FORMAT'
  | 'ERR_AGENT'
  | 'ERR_CHANNEL_REFUSED'
  | 'ERR_CHANNEL_TIMEOUT'
  | 'ERR_FORWARD_FAILED'
  | 'ERR_PROHIBITED'
  | 'ERR_ADDRESS_IN_USE'
  | 'ERR_PATH_TOO_LONG'
  | 'ERR_RUNTIME_DIRECTORY'
  | 'ERR_LOCAL_LIMIT'
  | 'ERR_SSH_MISSING'
  | 'ERR_LOST'
  | 'ERR_EXEC'
  | 'ERR_STUCK'

const RETRYABLE: ReadonlySet<TunnelErrorCode> = new Set([
  'ERR_POOL_EXHAUSTED',
  'ERR_OPEN_TIMEOUT',
  'ERR_DNS',
  'ERR_REFUSED',
  'ERR_UNREACHABLE',
  'ERR_RESET',
  'ERR_AGENT',
  'ERR_CHANNEL_REFUSED',
  'ERR_CHANNEL_TIMEOUT',
  'ERR_LOCAL_LIMIT',
  'ERR_LOST',
  'ERR_STUCK',
])

/** These say only that something stood in the way: whether to try again is what that something says. */
const FOLLOWS_CAUSE: ReadonlySet<TunnelErrorCode> = new Set(['ERR_CIRCUIT_OPEN', 'ERR_ACQUIRE_TIMEOUT'])

/** What a TunnelError may carry beside its message; `cause` is set whenever there is one. */
export interface TunnelErrorOptions extends ErrorOptions {
  phase?: string | undefined
  hop?: string | undefined
  retryAt?: Date | undefined
}

const brand = Symbol.for('ssh-warren.TunnelError')

/** The only error class. Branch on `code`; messages may change in any release and never carry a secret. */
export class TunnelError extends Error {
  readonly code: TunnelErrorCode
  /** 'queued' | 'dns' | 'connect' | 'banner' | 'kex' | 'hostkey' | 'auth' | 'channel' | 'forward' | 'open' | 'close' */
  readonly phase: string | undefined
  /** `user@host:port` of the jump that failed. */
  readonly hop: string | undefined
  /** When a resting or barred destination may be dialled again. */
  readonly retryAt: Date | undefined

  constructor(code: TunnelErrorCode, message: string, options: TunnelErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.phase = options.phase
    this.hop = options.hop
    this.retryAt = options.retryAt
    Object.defineProperty(this, brand, { value: true })
  }

  /** Whether the same call may succeed later without anyone changing anything. */
  get retryable(): boolean {
    if (!FOLLOWS_CAUSE.has(this.code)) return RETRYABLE.has(this.code)
    return TunnelError.is(this.cause) ? this.cause.retryable : true
  }

  /** Unlike `instanceof`, true for errors from a second copy of this package, too. */
  static is(value: unknown): value is TunnelError {
    return value instanceof Error && brand in value
  }
}
Object.defineProperty(TunnelError.prototype, 'name', { value: 'TunnelError', configurable: true, writable: true })
