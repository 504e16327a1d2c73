import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { Lane } from './lane.ts'
import { reset } from './reset.ts'

/** Bytes under way in one direction, past which the sender has to wait. */
const MAX_UNDER_WAY = 4 * 1024 * 1024

/** What all wires of one host have to suffer. */
export interface Weather {
  isFrozen: boolean
  delayMillis: number
  swallowsFin: boolean
  drops: boolean
  /** Resets a wire once so many bytes came from that side. */
  resetAt: { readonly bytes: number; readonly from: 'client' | 'server' } | undefined
}

/** A client's connection as the server sees it through the weather. The socket is the wire's own. */
export class Wire extends Duplex {
  readonly #socket: Socket
  readonly #weather: Weather
  readonly #fromClient = new Lane()
  readonly #fromServer = new Lane()
  readonly #seen = { client: 0, server: 0 }
  #isSated = false
  #proceed: (() => void) | undefined
  readonly #swallowed: Array<() => void> = []

  constructor(socket: Socket, weather: Weather, options: { allowHalfOpen: boolean }) {
    // Its end is told by the socket's: destroyed any earlier, what is still under way would be lost.
    super({ allowHalfOpen: options.allowHalfOpen, autoDestroy: false })
    this.#socket = socket
    this.#weather = weather
    socket.on('data', (bytes: Buffer) => this.#receive(bytes))
    socket.on('end', () => this.#fromClient.carry(0, () => this.#unlessSwallowed(() => this.push(null))))
    socket.on('drain', () => this.#drained())
    // Peers reset at will; the 'close' that follows says all there is to know.
    socket.on('error', () => this.destroy())
    socket.on('close', () => this.#fromClient.carry(0, () => this.#whenRead(() => this.destroy())))
    this.weatherChanged()
  }

  /** Takes the weather as it is now. */
  weatherChanged(): void {
    for (const lane of [this.#fromClient, this.#fromServer]) {
      lane.delayMillis = this.#weather.delayMillis
      if (this.#weather.isFrozen) lane.hold()
      else lane.release()
    }
    if (!this.#weather.swallowsFin) for (const act of this.#swallowed.splice(0)) act()
    this.#flow()
  }

  /** Ends it as a crashed host does, whatever the weather. */
  reset(): void {
    reset(this.#socket)
    this.destroy()
  }

  /** The same, once all that was sent before has arrived. */
  breakOff(): void {
    this.#fromServer.carry(0, () => this.reset())
  }

  /** Puts random bytes between those that the other side is sent. */
  inject(bytes: number, to: 'client' | 'server'): void {
    const garbage = randomBytes(bytes)
    if (to === 'client') this.#fromServer.carry(bytes, () => this.#send(garbage))
    else this.#fromClient.carry(bytes, () => this.#pass(garbage))
  }

  override _read(): void {
    this.#isSated = false
    this.#flow()
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#proceed = done
    if (!this.#weather.drops) {
      this.#fromServer.carry(bytes.length, () => {
        this.#within('server', bytes, (part) => this.#send(part))
        this.#drained()
      })
    }
    this.#drained()
  }

  override _final(done: () => void): void {
    this.#fromServer.carry(0, () => this.#unlessSwallowed(() => this.#socket.end()))
    done()
  }

  override _destroy(_error: Error | null, done: () => void): void {
    this.#fromClient.clear()
    this.#fromServer.clear()
    this.#swallowed.length = 0
    this.#socket.destroy()
    done()
  }

  #receive(bytes: Buffer): void {
    if (this.#weather.drops) return
    this.#fromClient.carry(bytes.length, () => this.#within('client', bytes, (part) => this.#pass(part)))
    this.#flow()
  }

  #pass(bytes: Buffer): void {
    this.#isSated = !this.push(bytes)
    this.#flow()
  }

  #send(bytes: Buffer): void {
    if (this.#socket.writable) this.#socket.write(bytes)
  }

  /** Passes on what comes before the byte at which the wire breaks. */
  #within(from: 'client' | 'server', bytes: Buffer, pass: (bytes: Buffer) => void): void {
    const limit = this.#weather.resetAt?.from === from ? this.#weather.resetAt.bytes : Number.POSITIVE_INFINITY
    const left = limit - this.#seen[from]
    this.#seen[from] += bytes.length
    if (left > 0) pass(bytes.subarray(0, Math.min(left, bytes.length)))
    // A turn later, when whoever is piped to the wire has passed the last bytes on.
    if (bytes.length >= left) setImmediate(() => this.reset())
  }

  #whenRead(act: () => void): void {
    if (this.readableEnded) act()
    else this.once('end', act)
  }

  #unlessSwallowed(act: () => void): void {
    if (this.#weather.swallowsFin) this.#swallowed.push(act)
    else act()
  }

  #drained(): void {
    if (this.#proceed === undefined || this.#fromServer.size + this.#socket.writableLength > MAX_UNDER_WAY) return
    const proceed = this.#proceed
    this.#proceed = undefined
    proceed()
  }

  #flow(): void {
    if (this.#weather.isFrozen || this.#isSated || this.#fromClient.size > MAX_UNDER_WAY) this.#socket.pause()
    else this.#socket.resume()
  }
}
