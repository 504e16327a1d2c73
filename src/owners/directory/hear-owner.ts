import { readdir } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Sweeping } from './ask-owner.ts'
import { poolPrefix } from './names.ts'
import { OWNER } from './owner-socket.ts'
import { checkPathLength } from './path-length.ts'
import { findPlace } from './place.ts'

const DEADLINE_MILLIS = 3_000
const MOST_BYTES = 2_097_152

/** What one pool's owner said; `undefined` when it said nothing in time. */
export interface Heard {
  readonly path: string
  readonly said: string | undefined
}

/** Connects to an owner socket and reads its one answer, bounded in bytes and time. */
function hear(path: string, { clock, signal, scope }: Sweeping): Promise<string | undefined> {
  checkPathLength(path)
  return new Promise((resolve) => {
    const socket = new Socket()
    const parts: string[] = []
    let bytes = 0
    let isWhole = false
    const end = () => void socket.destroy()
    const held = scope.hold('socket', path, { force: end })
    const timer = clock.setTimeout(end, DEADLINE_MILLIS)
    signal.addEventListener('abort', end)
    socket.setEncoding('utf8').on('data', (part: string) => {
      bytes += part.length
      if (bytes > MOST_BYTES) end()
      else parts.push(part)
    })
    socket.once('end', () => {
      isWhole = true
      end()
    })
    socket.on('error', () => {
      // Dead, or not ours: either way it has said nothing.
    })
    socket.once('close', () => {
      clock.clearTimeout(timer)
      signal.removeEventListener('abort', end)
      held.strike()
      resolve(isWhole && parts.length > 0 ? parts.join('') : undefined)
    })
    socket.connect({ path })
  })
}

/** Asks every pool of this user that has a runtime directory. Rejects with `ERR_RUNTIME_DIRECTORY`. */
export async function hearOwners(base: string | undefined, asking: Sweeping): Promise<Heard[]> {
  const place = await findPlace(base)
  const paths = (await readdir(place)).filter((name) => name.startsWith(poolPrefix())).map((name) => join(place, name))
  return await Promise.all(paths.slice(0, 100).map(async (path) => ({ path, said: await hear(join(path, OWNER), asking) })))
}
