import type { Client } from 'ssh2'
import type { Clock } from '../../clock.ts'
import { TunnelError } from '../../errors.ts'
import { shown } from '../../shown.ts'
import { insidesOf } from './insides.ts'

/** ssh2's window per channel (lib/Channel.js). */
export const WINDOW_BYTES = 2 * 1024 * 1024
const MAX_BANNERS = 16
const MAX_PROMPTS = 16
const MAX_REQUESTS_PER_SECOND = 100
/** RFC 4253, section 11.1: the other end has left on purpose. */
const DISCONNECT_BY_APPLICATION = 11

/**
 * Holds a hostile server to the protocol: `fail` is called, once per offence, with `ERR_PROTOCOL`. ssh2 alone buffers without end from a
 * server that ignores its window, and never counts banners, prompts or requests. Call it right after `client.connect`.
 */
export function guard(
  client: Client,
  clock: Clock,
  fail: (error: TunnelError | undefined) => void,
  received: (channel: object, bytes: number) => void,
): void {
  const { _protocol: protocol, _chanMgr: channels } = insidesOf(client)
  const handlers = protocol._handlers
  const offend = (what: string) => fail(new TunnelError('ERR_PROTOCOL', `the server ${what}; the connection was ended`))
  const before = (name: string, check: (...args: never[]) => boolean) => {
    const handler = handlers[name]
    if (handler === undefined)
      throw new TunnelError('ERR_UNSUPPORTED', `this version of ssh2 has no handler for ${name}: install the one Warren names`)
    handlers[name] = (self, ...args) => {
      if (check(...args)) handler(self, ...args)
    }
  }
  const onData = (id: number, data: Buffer) => {
    const channel = channels.get(id)
    if (typeof channel !== 'object') return true
    const unread = channel.readableLength + channel.stderr.readableLength + data.length
    // At a window of exactly 0 ssh2 drops data without a word, which would tear a hole into the stream.
    if (unread > 2 * WINDOW_BYTES || channel.incoming.window === 0) {
      offend(`sent more than the window of a channel allows (${unread} bytes unread)`)
      return false
    }
    received(channel, data.length)
    return true
  }
  let banners = 0
  let prompts = 0
  let requests = 0
  let second = 0
  before('CHANNEL_DATA', onData)
  before('CHANNEL_EXTENDED_DATA', onData)
  before('CHANNEL_OPEN', (info: { type: string }) => {
    offend(`opened a ${shown(info.type, 40)} channel that nobody asked for`)
    return false
  })
  before('USERAUTH_BANNER', () => {
    banners += 1
    if (banners > MAX_BANNERS) offend(`sent more than ${MAX_BANNERS} banners`)
    return banners <= MAX_BANNERS
  })
  before('USERAUTH_INFO_REQUEST', () => {
    prompts += 1
    if (prompts > MAX_PROMPTS) offend(`asked more than ${MAX_PROMPTS} times for a password`)
    return prompts <= MAX_PROMPTS
  })
  const onRequest = () => {
    const now = Math.floor(clock.now() / 1_000)
    requests = now === second ? requests + 1 : 1
    second = now
    if (requests > MAX_REQUESTS_PER_SECOND) offend(`sent more than ${MAX_REQUESTS_PER_SECOND} requests within a second`)
    return requests <= MAX_REQUESTS_PER_SECOND
  }
  // ssh2 would have the server prove each key it announces: a signature each, for something nobody here listens to.
  before('GLOBAL_REQUEST', (name: string) => onRequest() && name !== 'hostkeys-00@openssh.com')
  // Those that want no answer tell how a command ended, as often as commands are run.
  before('CHANNEL_REQUEST', (_id: number, _type: string, wantsReply: boolean) => !wantsReply || onRequest())
  // ssh2 ends its own side without a word, and waits for a server that may never end the other.
  before('DISCONNECT', (reason: number) => {
    if (reason === DISCONNECT_BY_APPLICATION) fail(undefined)
    return true
  })
}
