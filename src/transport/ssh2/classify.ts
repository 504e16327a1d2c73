import { TunnelError, type TunnelErrorCode } from '../../errors.ts'
import { socketErrorCode } from '../../owners/tcp.ts'
import { shown } from '../../shown.ts'
import { refusedChannel } from '../refused-channel.ts'
import type { Phase } from '../transport.ts'

const levelOf = (error: Error): unknown => ('level' in error ? error.level : undefined)

/** Reasons of an SSH_MSG_DISCONNECT (RFC 4253, section 11.1) by which servers turn a login down: protocol (OpenSSH: too many failures), no more methods, illegal user. */
const LOGIN_REFUSED: ReadonlySet<unknown> = new Set([2, 14, 15])
const KEY_EXCHANGE_FAILED = 3

/** The server has said goodbye. Anybody can, before login: what he says decides no more than where it was. */
function disconnectCode(reason: number, phase: Phase): TunnelErrorCode {
  if (phase === 'auth' && LOGIN_REFUSED.has(reason)) return 'ERR_AUTH'
  return phase === 'kex' && reason === KEY_EXCHANGE_FAILED ? 'ERR_KEX' : 'ERR_RESET'
}

/** What went wrong, by what ssh2 says and where it was; the order matters, most telling first. */
function codeOf(error: Error, phase: Phase): TunnelErrorCode {
  const errno = socketErrorCode(error)
  if (errno !== undefined) return errno
  if ('code' in error && typeof error.code === 'number') return disconnectCode(error.code, phase)
  if (levelOf(error) === 'client-authentication') return 'ERR_AUTH'
  if (levelOf(error) === 'agent') return 'ERR_AGENT'
  if (/no matching|Unsupported algorithm/.test(error.message)) return 'ERR_KEX'
  if (/Connection lost before handshake/.test(error.message)) return 'ERR_RESET'
  return phase === 'kex' ? 'ERR_KEX' : 'ERR_PROTOCOL'
}

/** An error as a cause. A server's words may stand in it: then they are as clean and as short there as in our own message. */
function causeOf(error: unknown): Error {
  const cause = error instanceof Error ? error : new Error(String(error))
  const message = shown(cause.message)
  if (message === cause.message) return cause
  return Object.assign(new Error(message), { ...cause })
}

const ADVICE: Partial<Record<TunnelErrorCode, string>> = {
  ERR_AUTH:
    'the server accepted none of the identities given, in this order; check the user name and that the key is in its authorized_keys',
  ERR_KEX:
    'client and server have no algorithm in common (SHA-1 is off here); update the server, or use a host key that is not ssh-rsa with SHA-1',
  ERR_RESET: 'the server closed the connection; a full MaxStartups, a ban or a firewall looks like this',
}

/** Where a dial was, and to whom. */
export interface Whereabouts {
  readonly phase: Phase
  readonly host: string
  /** The only types of host key that were asked for, because keys of these are known. */
  readonly hostKeyTypes: readonly string[] | undefined
}

/** Turns what ssh2 reports in a dial into a TunnelError with its phase. */
export function dialError(error: unknown, { phase, host, hostKeyTypes }: Whereabouts): TunnelError {
  if (TunnelError.is(error)) return error
  const cause = causeOf(error)
  if (hostKeyTypes !== undefined && levelOf(cause) === 'handshake' && cause.message.includes('no matching host key')) {
    const types = hostKeyTypes.join(', ')
    const what = `the host has no key of the types known for it (${types}): its keys have changed; make the new one known`
    return new TunnelError('ERR_HOST_KEY', `${host}: ${what}`, { cause, phase: 'hostkey' })
  }
  const code = codeOf(cause, phase)
  const advice = ADVICE[code]
  return new TunnelError(code, `${host}: ${cause.message}${advice === undefined ? '' : ` (${advice})`}`, { cause, phase })
}

/** The other end has closed the stream in a dial; `isForeign` when it had shown before that it does not speak SSH. */
export function closedEarly(phase: Phase, isForeign: boolean, host: string): TunnelError {
  if (isForeign) return new TunnelError('ERR_PROTOCOL', `${host}: what answers there does not speak SSH`, { phase })
  return new TunnelError('ERR_RESET', `${host}: ${ADVICE.ERR_RESET}`, { phase })
}

/** Turns the end of an open connection into its reason. */
export function lossError(error: unknown, host: string): TunnelError {
  if (TunnelError.is(error)) return error
  if (error === undefined) return new TunnelError('ERR_LOST', `${host}: the server closed the connection`)
  const cause = causeOf(error)
  return new TunnelError('ERR_LOST', `${host}: the connection was lost: ${cause.message}`, { cause })
}

/** Turns a refused channel into its reason: RFC 4254, section 5.1. */
export function channelError(error: unknown, to: string): TunnelError {
  if (TunnelError.is(error)) return error
  const cause = causeOf(error)
  const reason = 'reason' in cause ? cause.reason : undefined
  const text = cause.message.replace(/^\(SSH\) Channel open failure: /, '')
  if (typeof reason === 'number' || reason === '') return refusedChannel(reason === '' ? 0 : reason, text, to, cause)
  if (text === 'Unable to exec')
    return new TunnelError('ERR_EXEC', 'the server refuses to run commands', { cause, phase: 'channel' })
  return new TunnelError('ERR_LOST', `the connection was lost while opening a channel to ${to}: ${text}`, {
    cause,
    phase: 'channel',
  })
}
