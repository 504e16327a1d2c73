import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Trust } from '../../src/trust/trust.ts'
import { freshDirectory, type MadeKey, targetFor, unaborted } from './given.ts'

/** A file that hosts are written to at the first meeting, in a fresh directory for each test. */
export function acceptingFile() {
  const directory = freshDirectory()
  const file = () => join(directory(), 'known_hosts')
  const expect = (trust: Trust, host: string, port?: number) =>
    trust.expect(targetFor({ kind: 'accept-new', file: file() }, host, port), unaborted())
  return {
    directory,
    file,
    expect,
    lock: () => `${file()}.lock`,
    lines: () => readFileSync(file(), 'utf8').split('\n'),
    /** Names in the directory. */
    left: () => readdirSync(directory()),
    /** Goes through a first or later meeting. */
    meet: async (trust: Trust, host: string, key: MadeKey, signal = unaborted()) =>
      (await expect(trust, host)).verify(key.blob, signal),
  }
}
