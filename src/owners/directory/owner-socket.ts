import { chmodSync, linkSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import type { Held, Scope } from '../scope.ts'
import type { OwnedDirectory } from './directory.ts'

/** The socket's name in the pool's directory. */
export const OWNER = 'owner'

/** Longest answer, and longest wait for whoever asked to take it. */
const MOST_BYTES = 1_048_576
const PATIENCE_MILLIS = 5_000
const MOST_CONNECTIONS = 32

/** What a pool says of itself to whoever asks, in one line; it is told nothing and asked nothing in return. */
export type Answer = () => string

/**
 * What tells others that the pool lives, also while its process is stopped or busy: the kernel accepts for it. Whoever stays connected (its
 * user or root: 0600) is given one bounded answer, and nothing he says is read. Never holds the process.
 */
export class OwnerSocket {
  readonly #server: Server
  readonly #held: Held

  constructor(scope: Scope, answer?: Answer) {
    this.#server = createServer((connection) => {
      const held = scope.hold('socket', 'who asks the owner', { force: () => void connection.destroy() })
      connection.once('close', () => held.strike())
      connection.on('error', () => {})
      connection.unref()
      if (answer === undefined) connection.destroy()
      // Most only knock, and are gone by the next turn.
      else setImmediate(() => tell(connection, answer))
    })
    this.#server.maxConnections = MOST_CONNECTIONS
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

function tell(connection: Socket, answer: Answer): void {
  if (connection.destroyed) return
  const text = answer()
  connection.setTimeout(PATIENCE_MILLIS, () => void connection.destroy())
  connection.end(text.length > MOST_BYTES ? '' : `${text}\n`, () => void connection.destroySoon())
}
