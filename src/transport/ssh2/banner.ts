import type { Duplex } from 'node:stream'
import { TunnelError } from '../../errors.ts'
import type { Dial } from '../transport.ts'

/** RFC 4253, section 4.2 lets a server send lines before its identification; that many bytes are taken for an attack. */
const MAX_BANNER_BYTES = 64 * 1024
const IDENTIFICATION = /(^|\n)SSH-/

/**
 * Lets the server's identification through and then holds the stream until the dial is admitted to spend CPU. Ours was sent at once, so
 * the wait costs no round trip. Call it before the stream flows and after ssh2 was given it.
 */
export function holdAtBanner(stream: Duplex, dial: Dial, admitted: () => void, fail: (error: unknown) => void): void {
  let seen = ''
  const onData = (chunk: Buffer) => {
    seen += chunk.toString('latin1')
    if (IDENTIFICATION.test(seen)) {
      stream.off('data', onData)
      stream.pause()
      dial.admit().then(() => {
        admitted()
        stream.resume()
      }, fail)
    } else if (seen.length > MAX_BANNER_BYTES) {
      stream.off('data', onData)
      fail(
        new TunnelError('ERR_PROTOCOL', `${dial.target.id}: more than ${MAX_BANNER_BYTES} bytes and no SSH identification`, {
          phase: 'banner',
        }),
      )
    }
  }
  stream.prependListener('data', onData)
}
