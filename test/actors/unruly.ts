import { PassThrough } from 'node:stream'
import { systemClock } from '../../src/clock.ts'
import { TunnelError } from '../../src/errors.ts'
import type { Connection, Dial, Transport } from '../../src/transport/transport.ts'

/** What one host does with a dial. */
export type Manners = (dial: Dial) => Promise<Connection>

/** A connection of nothing but an entry in its scope; `lose` ends it. */
export class FakeConnection implements Connection {
  readonly remoteAddress = undefined
  readonly controlPath = undefined
  error: TunnelError | undefined
  provenAt = systemClock.now()
  readonly #listeners = new Set<(error: TunnelError) => void>()
  readonly #dial: Dial

  constructor(dial: Dial) {
    this.#dial = dial
    const held = dial.scope.hold('socket', 'fake', {
      force: () => {
        held.strike()
        this.lose()
      },
    })
  }

  lose(): void {
    if (this.error !== undefined) return
    this.error = new TunnelError('ERR_LOST', 'gone')
    for (const listener of this.#listeners) listener(this.error)
  }

  onWorn(): void {}

  onLost(listener: (error: TunnelError) => void): void {
    this.#listeners.add(listener)
  }

  async openChannel() {
    const stream = new PassThrough()
    const held = this.#dial.scope.hold('channel', 'fake', { force: () => stream.destroy() })
    stream.once('close', () => held.strike())
    return stream
  }

  requestReverse(): Promise<never> {
    return Promise.reject(new TunnelError('ERR_FORWARD_FAILED', 'not here'))
  }

  exec(): Promise<never> {
    return Promise.reject(new TunnelError('ERR_EXEC', 'not here'))
  }

  async probe(): Promise<void> {
    this.provenAt = systemClock.now()
  }
}

/** A transport that dials by the manners of each host, and well where none are given. */
export function unrulyTransport(manners: Readonly<Record<string, Manners>>): Transport {
  return {
    name: 'ssh2',
    needsDirectory: false,
    dial: (dial) => (manners[dial.target.host] ?? (async () => new FakeConnection(dial)))(dial),
  }
}
