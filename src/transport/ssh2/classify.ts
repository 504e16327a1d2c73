import { TunnelError, type TunnelErrorCode } from '../../errors.ts'
import { socketErrorCode } from '../../owners/tcp.ts'
import { shown } from '../../shown.ts'
import type { Phase } from '../transport.ts'

const levelOf = (error: Error): unknown => ('level' in error ? error.level : undefined)

/** What went wrong, by what ssh2 says and where it was; the order matters, most telling first. */
function codeOf(error: Error, phase: Phase): TunnelErrorCode {
  const errno = socketErrorCode(error)
  if (errno !== undefined) return errno
  const { message } = error
  if (levelOf(error) === 'client-authentication') return 'ERR_AUTH'
  if (levelOf(error) === 'agent') return 'ERR_AGENT'
  if (/no matching|Unsupported algorithm/.test(message)) return 'ERR_KEX'
  if (/Host denied|host key/i.test(message)) return 'ERR_HOST_KEY'
  if (/Connection lost before handshake/.test(message)) return 'ERR_RESET'
  // An SSH_MSG_DISCONNECT carries its reason code as a number (RFC 4253, 11.1): 2 protocol, 3 key exchange, 14 no more methods.
  if ('code' in error && error.code === 14) return 'ERR_AUTH'
  if ('code' in error && error.code === 3) return 'ERR_KEX'
  if ('code' in error && typeof error.code === 'number') return phase === 'auth' ? 'ERR_AUTH' : 'ERR_RESET'
  return phase === 'kex' ? 'ERR_KEX' : 'ERR_PROTOCOL'
}

const ADVICE: Partial<Record<TunnelErrorCode, string>> = {
  ERR_AUTH:
    'the server accepted none of the identities given, in this order; check the user name and that the key is in its authorized_keys',
  ERR_KEX:
    'client and server have no algorithm in common (SHA-1 is off here); update the server, or use a host key that is not ssh-rsa with SHA-1',
  ERR_RESET: 'the server closed the connection; a full MaxStartups, a ban or a firewall looks like this',
}

/** Turns what ssh2 reports in a dial into a TunnelError with its phase. */
export function dialError(error: unknown, phase: Phase, host: string): TunnelError {
  if (TunnelError.is(error)) return error
  const cause = error instanceof Error ? error : new Error(String(error))
  const code =
    phase === 'banner' && !('code' in cause) && !/lost before/.test(cause.message) ? 'ERR_PROTOCOL' : codeOf(cause, phase)
  const advice = phase === 'banner' && code === 'ERR_PROTOCOL' ? 'what answers there does not speak SSH' : ADVICE[code]
  const text = shown(cause.message)
  return new TunnelError(code, `${host}: ${text}${advice === undefined ? '' : ` (${advice})`}`, { cause, phase })
}

/** Turns the end of an open connection into its reason. */
export function lossError(error: unknown, host: string): TunnelError {
  if (TunnelError.is(error)) return error
  if (error === undefined) return new TunnelError('ERR_LOST', `${host}: the server closed the connection`)
  const cause = error instanceof Error ? error : new Error(String(error))
  return new TunnelError('ERR_LOST', `${host}: the connection was lost: ${shown(cause.message)}`, { cause })
}

/** Turns a refused channel into its reason: RFC 4254, section 5.1. */
export function channelError(error: unknown, to: string): TunnelError {
  if (TunnelError.is(error)) return error
  const cause = error instanceof Error ? error : new Error(String(error))
  const reason = 'reason' in cause ? cause.reason : undefined
  const text = shown(cause.message.replace(/^\(SSH\) Channel open failure: /, ''))
  if (reason === 1)
    return new TunnelError('ERR_PROHIBITED', `the server does not permit a connection to ${to}: ${text}`, {
      cause,
      phase: 'channel',
    })
  if (reason === 3)
    return new TunnelError('ERR_PROHIBITED', `the server does not know how to connect to ${to}: ${text}`, {
      cause,
      phase: 'channel',
    })
  if (typeof reason === 'number' || reason === '')
    return new TunnelError('ERR_CHANNEL_REFUSED', `the server could not connect to ${to}: ${text}`, { cause, phase: 'channel' })
  return new TunnelError('ERR_LOST', `the connection was lost while opening a channel to ${to}: ${text}`, {
    cause,
    phase: 'channel',
  })
}
