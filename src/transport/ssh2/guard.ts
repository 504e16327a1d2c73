import type { Client } from 'ssh2'
import type { Clock } from '../../clock.ts'
import { TunnelError } from '../../errors.ts'
import { shown } from '../../shown.ts'
import { insidesOf } from './insides.ts'
import type { Inbound } from './reverse.ts'

/** ssh2's window per channel (lib/Channel.js). */
export const WINDOW_BYTES = 2 * 1024 * 1024
const MAX_BANNERS = 16
const MAX_PROMPTS = 16
const MAX_SIGNATURES = 64
const MAX_REQUESTS_PER_SECOND = 100
/** OpenSSH takes 32 KiB, and nobody less than some hundred bytes. */
const MIN_PACKET_BYTES = 128
/** RFC 4253, section 11.1: the other end has left on purpose. */
const DISCONNECT_BY_APPLICATION = 11

/** What is heard from behind the guard. */
export interface Watch {
  /** The server breaks a rule: it `what`. */
  readonly offends: (what: string) => void
  /** Bytes have come in for a channel. */
  readonly received: (channel: object) => void
  /** Whether the server may open this channel. */
  readonly expects: (inbound: Inbound) => boolean
  /** The server has said goodbye. */
  readonly leaves: () => void
}

/** Puts a check before the handler of one kind of message: what is wrong with it, if anything; `false` drops it without a word. */
type Before = (name: string, check: (...args: never[]) => string | false | undefined, after?: (...args: never[]) => void) => void

/**
 * Holds a hostile server to the protocol. ssh2 alone buffers without end from a server that ignores its window, and never counts banners,
 * prompts or requests. Call it right after `client.connect`.
 */
export function guard(client: Client, clock: Clock, { offends, received, expects, leaves }: Watch): void {
  const handlers = insidesOf(client)._protocol._handlers
  let isOver = false
  const before: Before = (name, check, after) => {
    const handler = handlers[name]
    if (handler === undefined)
      throw new TunnelError('ERR_UNSUPPORTED', `this version of ssh2 has no handler for ${name}: install the one Warren names`)
    handlers[name] = (self, ...args) => {
      if (isOver) return
      const wrong = check(...args)
      if (typeof wrong === 'string') {
        isOver = true
        offends(wrong)
      } else if (wrong === undefined) {
        handler(self, ...args)
        after?.(...args)
      }
    }
  }
  guardChannels(client, before, received, expects)
  guardLogin(client, before)
  guardRequests(clock, before)
  // ssh2 ends its own side without a word, and waits for a server that may never end the other.
  before('DISCONNECT', (reason: number) => {
    if (reason === DISCONNECT_BY_APPLICATION) leaves()
    return undefined
  })
}

function guardChannels(client: Client, before: Before, received: Watch['received'], expects: Watch['expects']): void {
  const { _chanMgr: channels } = insidesOf(client)
  const checkData = (id: number, data: Buffer) => {
    const channel = channels.get(id)
    // What comes after our close is nobody's. ssh2 would open the window anew for it, and a server that has closed, too, may have given the
    // channel's number to the next one, which it would then send more than we can take.
    if (typeof channel !== 'object' || channel.outgoing.state === 'closing') return false
    // ssh2 would push it all the same, which is an error that nobody hears.
    if (channel.incoming.state !== 'open') return 'sent more after the end of its data'
    const unread = channel.readableLength + channel.stderr.readableLength + data.length
    // At a window of exactly 0 ssh2 drops data without a word, which would tear a hole into the stream.
    const isBeyond = unread > 2 * WINDOW_BYTES || (channel.incoming.window === 0 && data.length > 0)
    return isBeyond ? `sent more than the window of a channel allows (${unread} bytes unread)` : undefined
  }
  const count = (id: number) => {
    const channel = channels.get(id)
    if (typeof channel === 'object') received(channel)
  }
  before('CHANNEL_DATA', checkData, count)
  before('CHANNEL_EXTENDED_DATA', checkData, count)
  // ssh2 would cut what it sends into packets of that size; at 0 for ever.
  const checkPacket = ({ packetSize }: { packetSize: number }) =>
    packetSize < MIN_PACKET_BYTES ? `opened a channel for packets of ${packetSize} bytes` : undefined
  before('CHANNEL_OPEN', (inbound: Inbound & { packetSize: number }) =>
    expects(inbound) ? checkPacket(inbound) : `opened a ${shown(inbound.type, 40)} channel that nobody asked for`,
  )
  before('CHANNEL_OPEN_CONFIRMATION', checkPacket)
}

function guardLogin(client: Client, before: Before): void {
  const protocol = insidesOf(client)._protocol
  const bound = (name: string, most: number, what: string) => {
    let count = 0
    before(name, () => {
      if (protocol._authenticated) return `went on with the login after its end (${name})`
      count += 1
      return count > most ? what : undefined
    })
  }
  bound('USERAUTH_BANNER', MAX_BANNERS, `sent more than ${MAX_BANNERS} banners`)
  bound('USERAUTH_INFO_REQUEST', MAX_PROMPTS, `asked more than ${MAX_PROMPTS} times for a password`)
  // A signature each, or a connection to the agent.
  bound('USERAUTH_PK_OK', MAX_SIGNATURES, `asked for more than ${MAX_SIGNATURES} signatures`)
}

function guardRequests(clock: Clock, before: Before): void {
  let requests = 0
  let second = 0
  const count = () => {
    const now = Math.floor(clock.now() / 1_000)
    requests = now === second ? requests + 1 : 1
    second = now
    return requests > MAX_REQUESTS_PER_SECOND ? `sent more than ${MAX_REQUESTS_PER_SECOND} requests within a second` : undefined
  }
  // ssh2 would have the server prove each key it announces: a signature each, for something nobody here listens to.
  before('GLOBAL_REQUEST', (name: string) => count() ?? (name === 'hostkeys-00@openssh.com' ? false : undefined))
  // Those that want no answer tell how a command ended, as often as commands are run.
  before('CHANNEL_REQUEST', (_id: number, _type: string, wantsReply: boolean) => (wantsReply ? count() : undefined))
}
