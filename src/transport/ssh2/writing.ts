import type { Duplex } from 'node:stream'
import type { Client, ClientChannel } from 'ssh2'
import { insidesOf } from './insides.ts'

/** Unsent bytes of a connection above which its channels wait. */
const MAX_UNSENT_BYTES = 1024 * 1024

type Write = ClientChannel['_write']

/**
 * Back-pressure of the connection on its channels. ssh2 heeds a channel's window alone: against a server that opens its windows wide and
 * does not read, or does not finish a key exchange, whatever is written would pile up here.
 */
export class Writing {
  readonly #client: Client
  readonly #stream: Duplex
  #waiting: Array<() => void> = []

  constructor(client: Client, stream: Duplex) {
    this.#client = client
    this.#stream = stream
    stream.on('drain', () => this.#proceed())
    client.on('handshake', () => this.#proceed())
  }

  /** Makes a channel's writes wait while too much is unsent. */
  throttle(channel: ClientChannel): void {
    const write: Write = channel._write.bind(channel)
    channel._write = (chunk, encoding, done) => {
      if (this.#isCongested) this.#waiting.push(() => channel._write(chunk, encoding, done))
      else write(chunk, encoding, done)
    }
  }

  /** The connection is gone, and with it whatever waits. */
  end(): void {
    this.#waiting = []
  }

  get #isCongested(): boolean {
    const { writableLength, writableHighWaterMark } = this.#stream
    // 'drain' comes only after a write above the stream's own mark.
    return (
      writableLength > Math.max(MAX_UNSENT_BYTES, writableHighWaterMark) ||
      insidesOf(this.#client)._protocol._kexinit !== undefined
    )
  }

  #proceed(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const write of waiting) write()
  }
}
