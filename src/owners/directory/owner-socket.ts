import { chmodSync, linkSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Held, Scope } from '../scope.ts'
import type { OwnedDirectory } from './directory.ts'

/** The socket's name in the pool's directory. */
export const OWNER = 'owner'

/**
 * What tells others that the pool lives, also while its process is stopped or busy: the kernel accepts for it. Never holds the
 * process.
 */
export class OwnerSocket {
  readonly #server = createServer((connection) => {
    connection.on('error', () => {})
    connection.destroy()
  })
  readonly #held: Held

  constructor(scope: Scope) {
    // It answers until the directory is gone, which is newer and so goes first: whoever owns both closes it then.
    this.#held = scope.hold('listener', 'owner socket', { force: () => {} })
    // A connection that could not be accepted was somebody's question whether we live; they ask again.
    this.#server.on('error', () => {})
    this.#server.unref()
  }

  /** Listens first and takes its name then: a socket that is bound but does not listen looks like a dead pool's. */
  async open(directory: OwnedDirectory): Promise<void> {
    const passing = directory.claim('o')
    await this.#listen(passing)
    chmodSync(passing, 0o600)
    linkSync(passing, directory.claim(OWNER))
    directory.free(passing)
  }

  /** Resolves when it no longer listens. Idempotent. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => {
        this.#held.strike()
        resolve()
      })
    })
  }

  #listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('listening', resolve).once('error', reject).once('close', resolve)
      // exclusive: in a cluster's worker, the primary would listen for it, and go on when the worker is dead.
      this.#server.listen({ path, exclusive: true })
    })
  }
}
