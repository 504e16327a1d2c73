import type { Duplex } from 'node:stream'
import type { Client } from 'ssh2'
import { TunnelError } from '../../errors.ts'
import type { Dial } from '../transport.ts'
import { insidesOf } from './insides.ts'

/** RFC 4253, section 4.2 lets a server send lines before its identification; that many bytes are taken for an attack. */
const MAX_PRELUDE_BYTES = 64 * 1024
const IDENTIFICATION = /(?:^|\n)SSH-[^\n]*\n/
const SUPPORTED = /^SSH-(?:2\.0|1\.99)-[^ \r\n]/
/** What sshd says instead of its identification when it is only busy. */
const EXCUSES = /^(?:Exceeded MaxStartups|Not allowed at this time)/

/** What came before a server's identification, while that has not come. */
export interface Prelude {
  /** Whether what answers has shown that it is no SSH server. */
  readonly isForeign: boolean
}

/**
 * Takes the server's identification in and holds the stream there until the dial is admitted to spend CPU. Ours was sent at once, so the
 * wait costs no round trip. ssh2 gets it in one piece: it loses bytes of one that comes in three or more (1.17.0, parseHeader). Call it
 * right after `client.connect`.
 */
export function holdAtBanner(
  client: Client,
  stream: Duplex,
  dial: Dial,
  hold: { readonly admitted: () => void; readonly isOver: () => boolean; readonly fail: (error: unknown) => void },
): Prelude {
  const protocol = insidesOf(client)._protocol
  const proceed = protocol.parse
  const chunks: Buffer[] = []
  let bytes = 0
  /** The end of what has come, from its last newline. */
  let line = '\n'
  let isHeld = false
  const refuse = (what: string) => hold.fail(new TunnelError('ERR_PROTOCOL', `${dial.target.id}: ${what}`, { phase: 'banner' }))

  const pass = (): void => {
    if (hold.isOver() || protocol._destruct === undefined) return
    protocol.parse = proceed
    hold.admitted()
    try {
      const all = fromIdentification(chunks)
      protocol.parse(all, 0, all.length)
      stream.resume()
    } catch (error) {
      hold.fail(error)
    }
  }
  protocol.parse = (chunk, start, end) => {
    const part = chunk.subarray(start, end)
    chunks.push(part)
    bytes += part.length
    if (isHeld) return
    const text = part.toString('latin1')
    const last = text.lastIndexOf('\n')
    const isComplete = last !== -1 && IDENTIFICATION.test(line + text)
    line = last === -1 ? line + text : text.slice(last)
    if (isComplete) {
      isHeld = true
      stream.pause()
      if (!SUPPORTED.test(fromIdentification(chunks).toString('latin1', 0, 64)))
        return refuse('it speaks an SSH older than version 2')
      dial.admit().then(pass, hold.fail)
    } else if (bytes > MAX_PRELUDE_BYTES) {
      refuse(`more than ${MAX_PRELUDE_BYTES} bytes and no SSH identification (what answers there does not speak SSH)`)
    }
  }
  return {
    get isForeign() {
      return !isHeld && bytes > 0 && !EXCUSES.test(Buffer.concat(chunks).toString('latin1', 0, 64))
    },
  }
}

function fromIdentification(chunks: readonly Buffer[]): Buffer {
  const all = Buffer.concat(chunks)
  const text = all.toString('latin1')
  const { index } = IDENTIFICATION.exec(text) ?? { index: 0 }
  return all.subarray(text[index] === '\n' ? index + 1 : index)
}
