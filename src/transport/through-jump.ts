import { TunnelError, type TunnelErrorCode } from '../errors.ts'
import type { Dial, Hop } from './transport.ts'

/** What a hop says of the host that it could not reach, by its own words: sshd sends the system's. */
const REFUSALS: ReadonlyArray<readonly [RegExp, TunnelErrorCode]> = [
  [/connection refused/i, 'ERR_REFUSED'],
  [/name or service|name resolution|no address associated/i, 'ERR_DNS'],
]

/** Why a hop gives no stream to a host. What it says of the host is the host's; that it does not let us through is its own. */
export function refusedByHop(cause: unknown, { target }: Dial, { name }: Hop): unknown {
  if (!TunnelError.is(cause)) return cause
  const { code, message } = cause
  if (code !== 'ERR_CHANNEL_REFUSED' && code !== 'ERR_PROHIBITED') return cause
  const [, told] = REFUSALS.find(([words]) => words.test(message)) ?? [undefined, 'ERR_UNREACHABLE' as const]
  return new TunnelError(code === 'ERR_PROHIBITED' ? code : told, `${target.id}: from ${name}: ${message}`, {
    cause,
    phase: 'connect',
    hop: code === 'ERR_PROHIBITED' ? name : undefined,
  })
}
