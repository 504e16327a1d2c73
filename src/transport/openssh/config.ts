import { TunnelError } from '../../errors.ts'
import type { ResolvedTarget } from '../../target.ts'
import { HOST_KEY_ALGORITHMS } from '../host-key-algorithms.ts'
import { ALGORITHMS } from './algorithms.ts'
import { HOST_ALIAS } from './host-key.ts'
import { configWord, percentEscaped, shellQuoted } from './quote.ts'

/** Names in the tunnel's directory, which is ssh's working directory: no path of ours is quoted, replaced or too long. */
export const NAMES = { config: 'f', control: 'c', hostKey: 'k', agent: 'a' } as const

/** Seconds for TCP, the banner or a mute jump; the tunnel's own deadline may be shorter. */
const CONNECT_SECONDS = 5

/** What reaches the host through another ssh that is up. */
export interface JumpBy {
  readonly controlPath: string
  readonly ssh: string
  readonly setpriv: string | undefined
}

/** What one config file is made of. */
export interface ConfigRequest {
  readonly target: ResolvedTarget
  /** The host key algorithms of what is known for the host; `undefined`: nothing is. */
  readonly hostKeyAlgorithms: readonly string[] | undefined
  readonly jump: JumpBy | undefined
  /** The user's own config file, if the target opts in; what it may not say has been taken out. */
  readonly given: string | undefined
}

type Line = readonly [keyword: string, value: string]

/** ssh counts in whole seconds, and 0 is never. */
function keepAliveSeconds(millis: number): number {
  return millis === Number.POSITIVE_INFINITY ? 0 : Math.min(2 ** 31 / 1_000, Math.ceil(millis / 1_000))
}

/**
 * How a hop goes through the master of the jump before it: no second login there. Only our own words and a quoted path. If the master is gone it
 * ends, instead of dialling by itself a host of the last word's name.
 */
export function proxyCommand({ controlPath, ssh, setpriv }: JumpBy, { address }: ResolvedTarget): string {
  const words = [
    ...(setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'TERM', '--']),
    ...[ssh, '-F', 'none', '-S', controlPath, '-o', 'ProxyCommand=false', '-o', 'LogLevel=ERROR'],
    ...['-W', address, 'x'],
  ]
  if (words.some((word) => /[\n\r\0]/.test(word)))
    throw new TunnelError(
      'ERR_RUNTIME_DIRECTORY',
      'a path with a line break cannot be used to reach a host through a jump; set runtimeDirectory',
    )
  return percentEscaped(words.map((word) => (/^[\w./:=-]+$/.test(word) ? word : shellQuoted(word))).join(' '))
}

const isGiven = (lines: readonly Line[], keyword: string) => lines.some(([name]) => name.toLowerCase() === keyword.toLowerCase())

/** Whom to reach and how to judge that it is there. */
function whereabouts({ target, hostKeyAlgorithms, jump }: ConfigRequest): Line[] {
  return [
    ['HostName', percentEscaped(target.host)],
    ['Port', String(target.port)],
    ['User', configWord(target.user, 'user')],
    ['ProxyCommand', jump === undefined ? 'none' : proxyCommand(jump, target)],
    ['ProxyUseFdpass', 'no'],
    ['ConnectTimeout', String(CONNECT_SECONDS)],
    ['ConnectionAttempts', '1'],
    ['ServerAliveInterval', String(keepAliveSeconds(target.keepAliveIntervalMillis))],
    ['ServerAliveCountMax', String(target.keepAliveCountMax)],
    ['HostKeyAlgorithms', (hostKeyAlgorithms ?? HOST_KEY_ALGORITHMS).join(',')],
  ]
}

/** Everything that somebody's config file could otherwise decide; ssh takes the first value that it reads. */
const FIXED: readonly Line[] = [
  ['BatchMode', 'yes'],
  ['ControlMaster', 'yes'],
  ['ControlPath', NAMES.control],
  ['ControlPersist', 'no'],
  ['ForkAfterAuthentication', 'no'],
  ['SessionType', 'none'],
  ['RequestTTY', 'no'],
  ['RemoteCommand', 'none'],
  ['StdinNull', 'yes'],
  ['ExitOnForwardFailure', 'yes'],
  ['ClearAllForwardings', 'yes'],
  ['GatewayPorts', 'no'],
  ['StreamLocalBindMask', '0177'],
  ['StreamLocalBindUnlink', 'yes'],
  ['PermitLocalCommand', 'no'],
  ['EnableEscapeCommandline', 'no'],
  ['EscapeChar', 'none'],
  ['ForwardAgent', 'no'],
  ['ForwardX11', 'no'],
  ['ForwardX11Trusted', 'no'],
  ['Tunnel', 'no'],
  // What the host shows is written down for us to judge (host-key.ts).
  ['HostKeyAlias', HOST_ALIAS],
  ['StrictHostKeyChecking', 'accept-new'],
  ['UserKnownHostsFile', NAMES.hostKey],
  ['GlobalKnownHostsFile', '/dev/null'],
  ['KnownHostsCommand', 'none'],
  ['UpdateHostKeys', 'no'],
  ['HashKnownHosts', 'no'],
  ['CheckHostIP', 'no'],
  ['VerifyHostKeyDNS', 'no'],
  ['NoHostAuthenticationForLocalhost', 'no'],
  ['VisualHostKey', 'no'],
  // Exactly the keys that our agent lists, in its order.
  ['IdentityAgent', NAMES.agent],
  ['IdentityFile', 'none'],
  ['IdentitiesOnly', 'no'],
  ['AddKeysToAgent', 'no'],
  ['PKCS11Provider', 'none'],
  ['PubkeyAuthentication', 'yes'],
  ['PasswordAuthentication', 'no'],
  ['KbdInteractiveAuthentication', 'no'],
  ['HostbasedAuthentication', 'no'],
  ['EnableSSHKeysign', 'no'],
  ['GSSAPIAuthentication', 'no'],
  ['GSSAPIKeyExchange', 'no'],
  ['GSSAPIDelegateCredentials', 'no'],
  ['PreferredAuthentications', 'gssapi-with-mic,publickey'],
  ['NumberOfPasswordPrompts', '0'],
  ['CanonicalizeHostname', 'no'],
  ['AddressFamily', 'any'],
  ['TCPKeepAlive', 'yes'],
  ['Compression', 'no'],
  ['RekeyLimit', 'default none'],
  // ssh says why no algorithm suits both at this level only (9.2). It brings the server's banner, too: classify.ts knows.
  ['LogLevel', 'INFO'],
  ['SyslogFacility', 'USER'],
]

/** Options that not every version of ssh, or not every distribution's, knows. */
const MAY_BE_UNKNOWN =
  'ForkAfterAuthentication,SessionType,StdinNull,KnownHostsCommand,EnableEscapeCommandline,GSSAPI*,PubkeyAcceptedAlgorithms,CASignatureAlgorithms,KbdInteractiveAuthentication,HostbasedAuthentication'

/** What ssh is called with: a name of our own, or the host's where a config file of the user's is to match it. */
export const aliasFor = (target: ResolvedTarget): string => (target.openssh?.configFile === undefined ? HOST_ALIAS : target.host)

/**
 * The text of ssh's config file. No other file is read, neither the user's nor the system's, because ssh is given this one by `-F`. First what
 * the target's `openssh` options say, since the first value counts; a config file that is opted in to comes last and decides only what is left.
 */
export function configText(request: ConfigRequest): string {
  const own: readonly Line[] = request.target.openssh?.options ?? []
  const rest = [...whereabouts(request), ...ALGORITHMS, ...FIXED].filter(([keyword]) => !isGiven(own, keyword))
  const lines = [['IgnoreUnknown', MAY_BE_UNKNOWN] as const, ...own, ...rest].map(([keyword, value]) => `${keyword} ${value}\n`)
  return `${lines.join('')}${request.given === undefined ? '' : `\n${request.given}\n`}`
}
