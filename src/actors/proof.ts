import { onAbort } from '../aborts.ts'
import type { Bounds } from '../transport/transport.ts'
import { quietly } from '../wait.ts'
import type { Tunnel } from './tunnel.ts'
import { abortedBy } from './waiter.ts'

/** Round trips through one open tunnel, asked of its machine: one at a time, for all who want one. */
export class Proof {
  readonly #tunnel: Tunnel
  #verdict: Promise<void> | undefined

  constructor(tunnel: Tunnel) {
    this.#tunnel = tunnel
  }

  /** Resolves when the machine has drawn its conclusion, or the time is up. Rejects only by the caller's signal. */
  prove({ signal, timeoutMillis }: Bounds): Promise<void> {
    const { clock } = this.#tunnel.parts
    this.#verdict ??= this.#verify().finally(() => {
      this.#verdict = undefined
    })
    const verdict = this.#verdict
    return new Promise<void>((resolve, reject) => {
      const settle = (then: () => void) => {
        clock.clearTimeout(timer)
        takeBack()
        then()
      }
      const timer = clock.setTimeout(() => settle(resolve), timeoutMillis)
      const takeBack = onAbort(signal, () => settle(() => reject(abortedBy(signal))))
      quietly(verdict.then(() => settle(resolve)))
    })
  }

  #verify(): Promise<void> {
    const tunnel = this.#tunnel
    tunnel.tell({ type: 'tunnel.verify' })
    return new Promise((resolve) => {
      let watching: { unsubscribe(): void } | undefined
      const look = () => {
        if (tunnel.snapshot()?.matches({ open: 'verifying' })) return
        watching?.unsubscribe()
        resolve()
      }
      watching = tunnel.watch(look)
      look()
    })
  }
}
