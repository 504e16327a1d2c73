import type { TunnelErrorCode } from '../../errors.ts'
import type { Phase } from '../transport.ts'

/** What ssh says when it ends, what that means, and where it was. */
export interface ExitWords {
  readonly says: RegExp
  readonly code: TunnelErrorCode
  readonly phase: Phase | undefined
  readonly advice?: string | undefined
  /** It is the jump that failed, and not the host behind it. */
  readonly isHop?: true
}

const ADVICE = {
  auth: 'the server accepted none of the identities given, in this order; check the user name and that the key is in its authorized_keys',
  kex: 'client and server have no algorithm in common (SHA-1, chacha20-poly1305 and -etm MACs are off here); update the server',
  reset: 'the server closed the connection; a full MaxStartups, a ban or a firewall looks like this',
  limit: 'this user, this process or this machine has as many as it may; raise the limit or close something',
  config: 'see `openssh.options` and `openssh.configFile`',
} as const

/**
 * ssh's own words at exit 255 (OpenSSH 9.2, each by trial; older and newer forms where they are known), first match first. The order is that of how
 * telling they are: a host key that is refused also closes the connection, and a jump that cannot reach the host looks like one that hung up.
 */
export const EXIT_WORDS: readonly ExitWords[] = [
  {
    says: /^(?:fork failed|fork|socket|pipe|open|getaddrinfo|.*: fork failed).*: (?:Resource temporarily unavailable|Too many open files(?: in system)?|Cannot allocate memory)/m,
    code: 'ERR_LOCAL_LIMIT',
    phase: 'connect',
    advice: ADVICE.limit,
  },
  {
    says: /^(?:fork failed|Could not create (?:pipes|socketpair) to communicate with the proxy)/m,
    code: 'ERR_LOCAL_LIMIT',
    phase: 'connect',
    advice: ADVICE.limit,
  },
  {
    says: /too long for Unix domain socket|ControlPath too long|ControlPath ".*" too long/,
    code: 'ERR_PATH_TOO_LONG',
    phase: undefined,
    advice: 'set runtimeDirectory to a shorter path',
  },
  {
    says: /REVOKED HOST KEY DETECTED|REMOTE HOST IDENTIFICATION HAS CHANGED|^No \S+ host key is known for|^Host key verification failed\./m,
    code: 'ERR_HOST_KEY',
    phase: 'hostkey',
  },
  { says: /^Unable to negotiate with .*no matching .* found/m, code: 'ERR_KEX', phase: 'kex', advice: ADVICE.kex },
  {
    says: /^(?:\S.*: )?Permission denied \(|Too many authentication failures|^No more authentication methods/m,
    code: 'ERR_AUTH',
    phase: 'auth',
    advice: ADVICE.auth,
  },
  { says: /^ssh: Could not resolve hostname .*: Temporary failure/m, code: 'ERR_DNS', phase: 'dns' },
  { says: /Could not resolve hostname /, code: 'ERR_DNS', phase: 'dns' },
  {
    says: /open failed: administratively prohibited|open failed: unknown channel type/,
    code: 'ERR_PROHIBITED',
    phase: 'connect',
    advice: 'the jump does not permit connections to the host',
    isHop: true,
  },
  {
    says: /open failed: connect failed: (?:Name or service not known|Temporary failure in name resolution|No address associated)/,
    code: 'ERR_DNS',
    phase: 'dns',
    advice: 'the jump cannot resolve the name',
  },
  {
    says: /open failed: connect failed: Connection refused|open failed: connect failed: $/m,
    code: 'ERR_REFUSED',
    phase: 'connect',
    advice: 'by the jump',
  },
  {
    says: /open failed: connect failed|stdio forwarding (?:request )?failed/,
    code: 'ERR_UNREACHABLE',
    phase: 'connect',
    advice: 'by the jump',
  },
  {
    says: /Control socket connect\(|mux_client_\w+: |Master (?:refused|process)/,
    code: 'ERR_UNREACHABLE',
    phase: 'connect',
    advice: "the jump's connection is gone",
    isHop: true,
  },
  { says: /connect to (?:host|address) .*: Connection refused/, code: 'ERR_REFUSED', phase: 'connect' },
  { says: /Connection timed out during banner exchange/, code: 'ERR_OPEN_TIMEOUT', phase: 'banner' },
  {
    says: /connect to (?:host|address) .*: (?:Connection timed out|Operation timed out)/,
    code: 'ERR_OPEN_TIMEOUT',
    phase: 'connect',
  },
  { says: /connect to (?:host|address) .*: |Network is unreachable|No route to host/, code: 'ERR_UNREACHABLE', phase: 'connect' },
  {
    says: /banner line too long|banner exchange: .* invalid format|Protocol major versions differ|Bad (?:remote )?protocol version/,
    code: 'ERR_PROTOCOL',
    phase: 'banner',
    advice: 'what answers there does not speak SSH',
  },
  { says: /(?:kex|ssh)_exchange_identification: /, code: 'ERR_RESET', phase: 'banner', advice: ADVICE.reset },
  {
    says: /Bad configuration option|Unsupported option|^command-line(?:: |, )?line \d+|^\S+ line \d+: |terminating, \d+ bad configuration options|Bad (?:local|remote|dynamic) forwarding specification|Can't open user config file|hostname contains invalid characters|^usage: ssh|^unknown option|illegal option|Bad SSH2 |Bad key types|Bad number/m,
    code: 'ERR_INVALID_OPTION',
    phase: undefined,
    advice: ADVICE.config,
  },
  {
    says: /Bad packet length|Corrupted MAC|message authentication code incorrect|Protocol error|Disconnecting .*: (?:Bad|Protocol)/,
    code: 'ERR_PROTOCOL',
    phase: undefined,
  },
  {
    says: /Timeout, server .* not responding|Timeout, your session not responding/,
    code: 'ERR_LOST',
    phase: undefined,
    advice: 'the server does not answer keepalives',
  },
  {
    says: /Connection (?:reset|closed|to \S+ closed) by |Connection reset by |Broken pipe|closed by remote host|UNKNOWN port/,
    code: 'ERR_RESET',
    phase: undefined,
    advice: ADVICE.reset,
  },
]
