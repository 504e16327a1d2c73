import { TunnelError } from '../errors.ts'
import type { Claim } from './gate.ts'

/** The place of one dial. */
export interface DialPlace {
  /** At the banner: waits until CPU may be spent on key exchange and login, and only then gives up the place among the connecting. Rejects with the signal's reason. */
  admit(signal: AbortSignal): Promise<void>
  /** Gives back all it holds and ends its waiting. Idempotent. */
  release(): void
}

type Enter = (granted: () => void) => Claim
/** The gates in the order in which a dial passes them. */
export interface Gates {
  readonly address: Enter
  readonly connecting: Enter
  /** `undefined`: whoever is let in connects and opens in one. */
  readonly opening: Enter | undefined
}

const released = () => new TunnelError('ERR_ABORTED', 'the dial has given its place back', { phase: 'queued' })

/** One dial's passage through the gates; it owns every claim it makes on the way. */
export class Passage implements DialPlace {
  readonly #gates: Gates
  #address: Claim | undefined
  #connecting: Claim | undefined
  #opening: Claim | undefined
  #admission: Promise<void> | undefined
  #end: ((error: TunnelError) => void) | undefined
  #isReleased = false

  constructor(gates: Gates) {
    this.#gates = gates
  }

  /** Waits for a place at the address and then for one among the connecting; aborted, it has released both. */
  enter(signal: AbortSignal): Promise<void> {
    const begin = (granted: () => void) => {
      this.#address = this.#gates.address(() => {
        this.#connecting = this.#gates.connecting(granted)
      })
    }
    return this.#wait(signal, begin, () => this.release())
  }

  admit(signal: AbortSignal): Promise<void> {
    const { opening } = this.#gates
    if (opening === undefined) return Promise.resolve()
    const begin = (granted: () => void) => {
      this.#opening = opening(() => {
        this.#connecting?.leave()
        granted()
      })
    }
    this.#admission ??= this.#wait(signal, begin, () => this.#opening?.leave())
    return this.#admission
  }

  release(): void {
    this.#isReleased = true
    this.#opening?.leave()
    this.#connecting?.leave()
    this.#address?.leave()
    this.#end?.(released())
  }

  async #wait(signal: AbortSignal, begin: (granted: () => void) => void, giveUp: () => void): Promise<void> {
    signal.throwIfAborted()
    if (this.#isReleased) throw released()
    let isGranted = false
    let go = () => {}
    begin(() => {
      isGranted = true
      go()
    })
    if (isGranted) return
    await new Promise<void>((resolve, reject) => {
      const abort = () => this.#end?.(signal.reason)
      const settle = (then: () => void) => {
        signal.removeEventListener('abort', abort)
        this.#end = undefined
        then()
      }
      go = () => settle(resolve)
      this.#end = (error) => {
        settle(() => reject(error))
        giveUp()
      }
      signal.addEventListener('abort', abort, { once: true })
    })
    // Granted, and aborted or released before this could go on.
    if (!signal.aborted && !this.#isReleased) return
    giveUp()
    throw signal.aborted ? signal.reason : released()
  }
}
