import type { Socket } from 'node:net'
import type { Buffered } from '../../../channels/buffered.ts'
import { TunnelError } from '../../../errors.ts'
import { shown } from '../../../shown.ts'
import { Reading } from '../../reading.ts'
import { FrameCutter } from '../frames.ts'
import { type Confirmation, ProxyChannel } from './channel.ts'
import {
  type ChannelKind,
  failureMessage,
  type Inbound,
  LONGEST_PACKET,
  openMessage,
  readMessage,
  WINDOW_BYTES,
} from './messages.ts'
import { Sending } from './sending.ts'

/** OpenSSH takes 32 KiB, and nobody less than some hundred bytes. */
const MIN_PACKET_BYTES = 128
/** Requests and questions of the server; a server that asks more is up to no good. */
const MOST_ASKED = 100
const ASKED_WITHIN_MILLIS = 1_000
const ENDS: ReadonlySet<string> = new Set(['exit-status', 'exit-signal', 'eow@openssh.com'])

/** Why a channel was not opened, in the server's words (RFC 4254, section 5.1). */
export interface Refusal {
  readonly reason: number
  readonly text: string
}

/** Who hears what comes of one channel. */
export interface Listener {
  opened(channel: ProxyChannel): void
  /** Also when it was given up before. */
  refused(refusal: Refusal): void
  /** A request on it that needs no answer but a yes or no, as its name and details say. */
  readonly request?: ((name: string, details: Extract<Inbound, { type: 'request' }>['details']) => void) | undefined
  /** The server knows of it no longer. */
  gone(): void
}

/** What a layer stands on and tells. */
export interface Ground {
  readonly socket: Socket
  readonly buffered: Buffered
  readonly now: () => number
  /** Bytes have come in. */
  readonly proven: () => void
  /** The server broke the rules of the protocol. */
  readonly broken: (error: TunnelError) => void
}

type OnChannel = Exclude<Extract<Inbound, { id: number }>, { type: 'confirmation' | 'open-failure' }>

interface Entry {
  readonly listener: Listener
  readonly isCommand: boolean
  channel: ProxyChannel | undefined
  isGivenUp: boolean
}

/** SSH's connection layer (RFC 4254) over a master's proxy connection: all channels of one tunnel, multiplexed. */
export class ConnectionLayer {
  readonly reading: Reading
  readonly #ground: Ground
  readonly #entries = new Map<number, Entry>()
  readonly #cutter: FrameCutter
  readonly #sending: Sending
  #lastId = 0
  #asked: number[] = []
  #isOver = false

  constructor(ground: Ground, already: Buffer) {
    this.#ground = ground
    this.reading = new Reading(ground.socket, ground.buffered)
    this.#sending = new Sending(ground.socket, (answered) => {
      const channel = this.anyChannel
      if (channel === undefined) answered()
      else channel.ask('keepalive@openssh.com', [], answered)
    })
    this.#cutter = new FrameCutter(LONGEST_PACKET, (frame) => this.#take(frame))
    ground.socket.on('data', (chunk: Buffer) => this.#push(chunk))
    if (already.length > 0) this.#push(already)
  }

  /** Channels that the server knows of. */
  get size(): number {
    return this.#entries.size
  }

  /** One that is open and may be asked something. */
  get anyChannel(): ProxyChannel | undefined {
    for (const { channel, isGivenUp } of this.#entries.values())
      if (channel !== undefined && !isGivenUp && !channel.isClosing) return channel
    return undefined
  }

  /** Asks for a channel; the listener is told what comes of it. The result gives it up: what still comes of it is closed, and not told but for its end. */
  open(kind: ChannelKind, listener: Listener): () => void {
    if (this.#isOver) {
      listener.gone()
      return () => {}
    }
    do this.#lastId = (this.#lastId + 1) % 2 ** 31
    while (this.#entries.has(this.#lastId))
    const id = this.#lastId
    const entry: Entry = { listener, isCommand: kind.type === 'session', channel: undefined, isGivenUp: false }
    this.#entries.set(id, entry)
    this.#sending.send(openMessage(kind, id, WINDOW_BYTES))
    return () => {
      entry.isGivenUp = true
      entry.channel?.destroy()
    }
  }

  /** The connection is gone, and all channels with it. */
  lose(error: TunnelError): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#sending.end()
    this.reading.end()
    for (const { channel, listener } of [...this.#entries.values()]) {
      if (channel === undefined) listener.gone()
      else channel.lose(error)
    }
    this.#entries.clear()
  }

  #push(chunk: Buffer): void {
    this.#ground.proven()
    if (!this.#cutter.push(chunk)) this.#break('sent a packet of impossible length')
    this.reading.decide()
  }

  #take(frame: Buffer): void {
    if (this.#isOver) return
    const message = readMessage(frame)
    const fault = message === undefined ? 'sent what is no message of SSH' : this.#accept(message)
    if (fault !== undefined) this.#break(fault)
  }

  /** Does what a message says; the result is what is wrong with it. */
  #accept(message: Inbound): string | undefined {
    switch (message.type) {
      case 'open':
        return `opened a channel (${shown(message.kind, 40)}) that nobody asked for`
      default: {
        const entry = this.#entries.get(message.id)
        if (entry === undefined) return 'spoke of a channel that there is not'
        if (message.type === 'confirmation' || message.type === 'open-failure') return this.#answered(entry, message)
        return entry.channel === undefined
          ? 'spoke of a channel before it was open'
          : this.#onChannel(entry.channel, entry, message)
      }
    }
  }

  #answered(entry: Entry, message: Extract<Inbound, { type: 'confirmation' | 'open-failure' }>): string | undefined {
    const { channel, listener } = entry
    if (channel !== undefined) return 'answered twice'
    if (message.type === 'confirmation') {
      // What we send would be cut into packets of that size; at 0 for ever.
      if (message.maxPacket < MIN_PACKET_BYTES) return `opened a channel for packets of ${message.maxPacket} bytes`
      this.#opened(message.id, entry, message)
      return undefined
    }
    this.#entries.delete(message.id)
    listener.refused({ reason: message.reason, text: message.text })
    listener.gone()
    return undefined
  }

  #onChannel(channel: ProxyChannel, { listener, isGivenUp }: Entry, message: OnChannel): string | undefined {
    switch (message.type) {
      case 'data':
        return channel.receive(message.data, message.kind)
      case 'adjust':
        return channel.widen(message.bytes) ? undefined : 'opened its window beyond measure'
      case 'eof':
        channel.receiveEof()
        return undefined
      case 'close':
        this.#entries.delete(message.id)
        channel.receiveClose()
        return undefined
      case 'request':
        if (!isGivenUp) listener.request?.(message.name, message.details)
        if (message.wantsReply) this.#sending.send(failureMessage(channel.sender))
        // How a command ended is told once for each, and there may be many.
        return ENDS.has(message.name) ? undefined : this.#flood()
      default:
        return channel.receiveAnswer(message.type === 'success') ? undefined : 'answered what nobody asked'
    }
  }

  #opened(id: number, entry: Entry, confirmation: Confirmation): void {
    const { listener } = entry
    const channel = new ProxyChannel(id, confirmation, entry.isCommand, {
      sending: this.#sending,
      unread: (bytes) => this.reading.count(bytes),
      gone: () => listener.gone(),
    })
    entry.channel = channel
    if (entry.isGivenUp) channel.destroy()
    else listener.opened(channel)
  }

  /** Counts a request of the server's; too many are its end. */
  #flood(): string | undefined {
    const now = this.#ground.now()
    this.#asked = [...this.#asked.filter((at) => now - at < ASKED_WITHIN_MILLIS), now]
    return this.#asked.length > MOST_ASKED ? `asked more than ${MOST_ASKED} times a second` : undefined
  }

  #break(what: string): void {
    if (!this.#isOver) this.#ground.broken(new TunnelError('ERR_PROTOCOL', `the server ${what}; the connection was ended`))
  }
}
