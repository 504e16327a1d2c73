import { readFileSync } from 'node:fs'
import { TunnelError } from '../../errors.ts'
import { codeOf } from '../../owners/directory/disk-error.ts'
import type { HostKeyExpectation } from '../../trust/trust.ts'

/** The name under which ssh writes the host's key down: in a file of its own, which begins empty. */
export const HOST_ALIAS = 'target'

const LINE = new RegExp(`^${HOST_ALIAS} \\S+ ([A-Za-z0-9+/]+={0,2})$`, 'm')

/**
 * The host's key as ssh has seen it, judged by the pool's trust. ssh is told to write down whatever key the host shows, which it does when
 * the key exchange has proven it and before it logs in; its own verdict decides nothing. Ours is asked for before anything is signed, and
 * again before the connection is used, so that both transports judge alike and in the same words.
 */
export class HostKey {
  readonly #expected: HostKeyExpectation
  readonly #path: string
  readonly #signal: AbortSignal
  #judged: Promise<Buffer> | undefined

  constructor(expected: HostKeyExpectation, path: string, signal: AbortSignal) {
    this.#expected = expected
    this.#path = path
    this.#signal = signal
  }

  /** The key, once it is known to be the host's; judged once. Rejects with `ERR_HOST_KEY`, or `ERR_LOCAL_LIMIT` when it could not be written down. */
  good(): Promise<Buffer> {
    this.#judged ??= this.#judge()
    return this.#judged
  }

  /** Why ssh's failure is really one of the host's key, if it is: nobody should look for a login that fails at the wrong host. */
  async objection(): Promise<TunnelError | undefined> {
    return await this.good().then(
      () => undefined,
      (error) => (TunnelError.is(error) && error.code === 'ERR_HOST_KEY' ? error : undefined),
    )
  }

  async #judge(): Promise<Buffer> {
    const key = this.#shown()
    if (key === undefined)
      throw new TunnelError('ERR_LOCAL_LIMIT', 'ssh could not write down which key the host has shown: the disk may be full', {
        phase: 'hostkey',
      })
    await this.#expected.verify(key, this.#signal)
    return key
  }

  /** A line in a directory of ours, while ssh waits: not by way of the thread pool. */
  #shown(): Buffer | undefined {
    try {
      const base64 = LINE.exec(readFileSync(this.#path, 'latin1'))?.[1]
      return base64 === undefined ? undefined : Buffer.from(base64, 'base64')
    } catch (cause) {
      const code = codeOf(cause) === 'EMFILE' || codeOf(cause) === 'ENFILE' ? 'ERR_LOCAL_LIMIT' : 'ERR_RUNTIME_DIRECTORY'
      throw new TunnelError(code, 'the file into which ssh writes the host key cannot be read', { cause, phase: 'hostkey' })
    }
  }
}
