import { TunnelError } from '../errors.ts'

/** Reasons of a refused channel: RFC 4254, section 5.1. */
const PROHIBITED = 1
const UNKNOWN_TYPE = 3

/** A channel that the server did not open, by its own reason and words. */
export function refusedChannel(reason: number, text: string, to: string, cause?: Error): TunnelError {
  const options = { ...(cause === undefined ? {} : { cause }), phase: 'channel' }
  if (reason === PROHIBITED)
    return new TunnelError('ERR_PROHIBITED', `the server does not permit a connection to ${to}: ${text}`, options)
  if (reason === UNKNOWN_TYPE)
    return new TunnelError('ERR_PROHIBITED', `the server does not know how to connect to ${to}: ${text}`, options)
  return new TunnelError('ERR_CHANNEL_REFUSED', `the server could not connect to ${to}: ${text}`, options)
}
