import { randomInt } from 'node:crypto'

/**
 * Bytes in a random name: short, because a socket path has 107 in all, and wide enough (2 · 10⁹) that an exclusive mkdir hardly
 * ever meets one.
 */
export const RANDOM_BYTES = 6

/** Whose the kernel says the files are that we make. */
export function ownUid(): number {
  return process.geteuid?.() ?? -1
}

/** What the names of our pools' directories begin with. */
export function poolPrefix(): string {
  return `warren-${ownUid()}-`
}

/** A name nobody can foresee. Lower case only, since a file system may not tell the cases apart. */
export function randomName(): string {
  return randomInt(36 ** RANDOM_BYTES)
    .toString(36)
    .padStart(RANDOM_BYTES, '0')
}
