import { lstatSync, rmdirSync, unlinkSync } from 'node:fs'
import { readdir, rename, rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BORN } from './born.ts'
import { attempt } from './clear.ts'
import { isAbsent } from './disk-error.ts'
import { poolPrefix, randomName } from './names.ts'
import { OWNER } from './owner-socket.ts'

const SLASH = Buffer.from('/')

/**
 * Removes a dead pool's directory; true if it was this call that did. Renamed first, so that of several sweepers one has it, to a
 * name that the next sweep finds if this one does not live to the end. Throws what the system says; what is left can be swept
 * again.
 */
export async function removeDead(path: string): Promise<boolean> {
  const taken = freeName(dirname(path))
  return unlessAbsent(async () => {
    await rename(path, taken)
    await empty(Buffer.from(taken), [BORN, OWNER])
    // In one go: a sweeper that is killed between these leaves what looks like a pool that is just being made.
    for (const name of [OWNER, BORN]) attempt(() => unlinkSync(join(taken, name)))
    rmdirSync(taken)
  })
}

/** rename(2) replaces an empty directory, which a pool's is for a moment. */
function freeName(place: string): string {
  for (;;) {
    const path = join(place, poolPrefix() + randomName())
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return path
  }
}

/** Depth first, following no link, one descriptor at a time. Names are bytes, since not every name is UTF-8. */
async function empty(directory: Buffer, but: readonly string[] = []): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true, encoding: 'buffer' })) {
    if (but.includes(entry.name.toString())) continue
    const path = Buffer.concat([directory, SLASH, entry.name])
    if (!entry.isDirectory()) await unlessAbsent(() => unlink(path))
    else
      await unlessAbsent(async () => {
        await empty(path)
        await rmdir(path)
      })
  }
}

/** False when somebody else was faster. */
async function unlessAbsent(fn: () => Promise<void>): Promise<boolean> {
  try {
    await fn()
    return true
  } catch (error) {
    if (!isAbsent(error)) throw error
    return false
  }
}
