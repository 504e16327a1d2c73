import { closeSync, openSync } from 'node:fs'
import type { Held, Scope } from '../scope.ts'

/** One descriptor put by, so that a directory can be listed when every other is used up. In the ledger before it is opened. */
export class Reserve {
  readonly #held: Held
  #descriptor: number | undefined

  constructor(scope: Scope) {
    // Needed until the directory is gone, which is newer and so goes first: whoever owns both closes this one then.
    this.#held = scope.hold('file', 'descriptor in reserve', { force: () => {} })
  }

  /** Throws what the system says, EMFILE for one. */
  open(): void {
    this.#descriptor ??= openSync('/dev/null', 'r')
  }

  /** Runs `fn` while the descriptor is free for others, and takes it back if it can. */
  lend(fn: () => void): void {
    this.#close()
    try {
      fn()
    } finally {
      if (!this.#held.isGone) this.#reopen()
    }
  }

  /** Gives it up. Idempotent. */
  close(): void {
    this.#close()
    this.#held.strike()
  }

  #close(): void {
    const descriptor = this.#descriptor
    this.#descriptor = undefined
    if (descriptor !== undefined) closeSync(descriptor)
  }

  #reopen(): void {
    try {
      this.open()
    } catch {
      // Somebody was faster. The next one to need it does without, and may then find that others have closed theirs.
    }
  }
}
