import { ssh2Transport } from '../../src/transport/ssh2/ssh2.ts'
import type { Transport } from '../../src/transport/transport.ts'

/** The usual transport, whose every connection holds something that will not die until it relents. */
export class Stubborn {
  /** Whether what is made from now on is stubborn. */
  isOn = false
  #hasRelented = false

  readonly transport: Transport = {
    ...ssh2Transport,
    dial: async (dial) => {
      if (this.isOn && dial.target.port === this.#port) {
        const held = dial.scope.hold('agent', 'a stubborn one', { force: () => this.#hasRelented && held.strike() })
      }
      return await ssh2Transport.dial(dial)
    },
  }
  readonly #port: number

  constructor(port: number) {
    this.#port = port
  }

  /** From now on all of it dies when it is forced. */
  relent(): void {
    this.#hasRelented = true
    this.isOn = false
  }
}
