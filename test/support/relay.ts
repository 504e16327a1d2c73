import { connect } from 'node:net'
import type { Target } from '../../src/api/target.ts'
import { Door } from '../../src/testing/door.ts'
import { reset } from '../../src/testing/reset.ts'
import { Sockets } from '../../src/testing/sockets.ts'
import type { Wire } from '../../src/testing/wire.ts'
import { Wires } from '../../src/testing/wires.ts'

/** RELAY of the fault catalogue: TCP between a client and a server, with switches for present and new connections. */
export class Relay implements AsyncDisposable {
  readonly host = '127.0.0.1'
  /** Accepted since the start. */
  connections = 0
  readonly #to: { readonly port: number; readonly host?: string | undefined }
  readonly #wires = new Wires({ allowHalfOpen: true })
  readonly #upstream = new Sockets()
  #door: Door | undefined

  private constructor(to: { readonly port: number; readonly host?: string | undefined }) {
    this.#to = to
  }

  /** Listens on a free port of 127.0.0.1 and passes everything on to `to`. */
  static async start(to: { readonly port: number; readonly host?: string | undefined }): Promise<Relay> {
    const relay = new Relay(to)
    relay.#door = await Door.open((socket) => relay.#join(relay.#wires.add(socket)))
    return relay
  }

  get port(): number {
    return this.#door?.port ?? 0
  }

  /** Connections now. */
  get open(): number {
    return this.#wires.size
  }

  /** The same target, reached through the relay. */
  through(target: Target): Target {
    return { ...target, host: this.host, port: this.port }
  }

  /** Holds both sockets of each connection and forwards nothing. */
  freeze(): void {
    this.#wires.change({ isFrozen: true })
  }

  thaw(): void {
    this.#wires.change({ isFrozen: false })
  }

  /** No FIN is passed on, either way; switched off, those held back are. */
  swallowFin(on = true): void {
    this.#wires.change({ swallowsFin: on })
  }

  /** Discards every byte, either way. */
  drop(on = true): void {
    this.#wires.change({ drops: on })
  }

  /** Each way; order is kept. */
  delay(millis: number): void {
    this.#wires.change({ delayMillis: millis })
  }

  /** RST on all present connections, both sides. */
  reset(): void {
    this.#wires.sever()
  }

  /** RST once exactly `bytes` have come from that side of a connection; `undefined` ends that. */
  resetAt(bytes: number | undefined, from: 'client' | 'server' = 'server'): void {
    this.#wires.change({ resetAt: bytes === undefined ? undefined : { bytes, from } })
  }

  /** Random bytes into present connections. */
  garbage(to: 'client' | 'server' = 'client'): void {
    this.#wires.garbage(to)
  }

  /** New connections get ECONNREFUSED; the port is kept. */
  refuse(on = true): void {
    if (on) this.#door?.shut()
    else this.#door?.reopen()
  }

  /** Frees everything, whatever the switches say. */
  async close(): Promise<void> {
    await Promise.all([this.#door?.close(), this.#wires.close(), this.#upstream.close()])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #join(wire: Wire): void {
    this.connections += 1
    const upstream = this.#upstream.add(
      connect({ ...this.#to, host: this.#to.host ?? '127.0.0.1', noDelay: true, allowHalfOpen: true }),
    )
    upstream.on('error', () => wire.breakOff())
    wire.on('close', () => (wire.readableEnded ? upstream.destroySoon() : reset(upstream)))
    wire.pipe(upstream).pipe(wire)
  }
}

/** Starts a relay in front of a port. */
export function startRelay(to: { readonly port: number; readonly host?: string | undefined }): Promise<Relay> {
  return Relay.start(to)
}
