import { readdirSync, rmdirSync, unlinkSync } from 'node:fs'

const SLASH = Buffer.from('/')

/** Runs what may fail, when the step that follows tells whether it has worked. */
export function attempt(fn: () => void): void {
  try {
    fn()
  } catch {
    // What is left makes the rmdir of the directory above it fail, and that is not ignored.
  }
}

/**
 * Removes whatever lies in a directory, best effort, following no link. One descriptor at a time, at any depth: each listing is
 * closed before the next. Names are bytes, since not every name is UTF-8.
 */
export function clear(directory: Buffer): void {
  for (const entry of readdirSync(directory, { withFileTypes: true, encoding: 'buffer' })) {
    const path = Buffer.concat([directory, SLASH, entry.name])
    if (!entry.isDirectory()) attempt(() => unlinkSync(path))
    else {
      attempt(() => clear(path))
      attempt(() => rmdirSync(path))
    }
  }
}
