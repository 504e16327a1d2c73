import { Duplex } from 'node:stream'
import { Buffered } from '../../../../src/channels/buffered.ts'
import type { TunnelError } from '../../../../src/index.ts'
import { FrameCutter } from '../../../../src/transport/openssh/frames.ts'
import type { ProxyChannel } from '../../../../src/transport/openssh/proxy/channel.ts'
import { ConnectionLayer, type Refusal } from '../../../../src/transport/openssh/proxy/layer.ts'
import { type ChannelKind, LONGEST_PACKET, MESSAGE } from '../../../../src/transport/openssh/proxy/messages.ts'
import { string, uint32 } from '../../../../src/transport/openssh/wire.ts'

/** A message as the server's side of a proxy connection has it. */
export function message(type: number, ...parts: ReadonlyArray<number | string | Buffer>): Buffer {
  const fields = parts.map((part) => (typeof part === 'number' ? uint32(part) : string(part)))
  return string(Buffer.concat([Buffer.of(0, type), ...fields]))
}

/** A request of the server on a channel. */
export const request = (id: number, name: string, wantsReply: boolean): Buffer =>
  string(Buffer.concat([Buffer.of(0, MESSAGE.request), uint32(id), string(name), Buffer.of(wantsReply ? 1 : 0)]))

/** What became of a channel that was asked for. */
export class Asked {
  channel: ProxyChannel | undefined
  refusal: Refusal | undefined
  gone = 0
  readonly requests: string[] = []
  giveUp = (): void => {}
}

/** What we have sent: a type and its body. */
export interface Sent {
  readonly type: number
  readonly body: Buffer
}

/** The socket of a proxy connection, of which the test is the other end. */
class FakeSocket extends Duplex {
  readonly sent: Sent[] = []
  /** Whether the kernel takes what is written. */
  isOpen = true
  #held: (() => void) | undefined
  readonly #cutter = new FrameCutter(LONGEST_PACKET, (frame) =>
    this.sent.push({ type: frame[1] ?? 0, body: Buffer.from(frame.subarray(2)) }),
  )

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#cutter.push(chunk)
    if (this.isOpen) done()
    else this.#held = done
  }

  drain(): void {
    this.isOpen = true
    this.#held?.()
    this.#held = undefined
  }
}

/** One connection layer, without a master and a server: what comes from them is `says`, what goes to them is `sent`. */
export class World {
  readonly socket = new FakeSocket()
  readonly buffered = new Buffered(Number.POSITIVE_INFINITY)
  readonly broken: TunnelError[] = []
  now = 0
  readonly layer = new ConnectionLayer(
    {
      socket: this.socket as never,
      buffered: this.buffered,
      now: () => this.now,
      proven: () => {},
      broken: (error) => {
        this.broken.push(error)
        this.layer.lose(error)
      },
    },
    Buffer.alloc(0),
  )

  get sent(): readonly Sent[] {
    return this.socket.sent
  }

  sentOf(type: number): Buffer[] {
    return this.sent.flatMap((each) => (each.type === type ? [each.body] : []))
  }

  says(...messages: readonly Buffer[]): void {
    this.socket.emit('data', Buffer.concat(messages))
  }

  /** Asks for a channel; its number is the count of those before it and one. */
  ask(kind: ChannelKind = { type: 'direct-tcpip', host: 'h', port: 1 }): Asked {
    const asked = new Asked()
    asked.giveUp = this.layer.open(kind, {
      opened: (channel) => {
        asked.channel = channel
      },
      refused: (refusal) => {
        asked.refusal = refusal
      },
      request: (name) => asked.requests.push(name),
      gone: () => {
        asked.gone += 1
      },
    })
    return asked
  }

  /** Asks for a channel that the server opens as its number 70, 71, … */
  open(kind?: ChannelKind, window = 2 ** 21, maxPacket = 2 ** 15): ProxyChannel {
    const asked = this.ask(kind)
    this.#opened += 1
    this.says(message(MESSAGE.openConfirmation, this.#opened, 69 + this.#opened, window, maxPacket))
    if (asked.channel === undefined) throw new Error('it was not opened')
    return asked.channel
  }
  #opened = 0
}
