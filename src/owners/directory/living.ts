/** A directory of this process that exists, or is about to. */
export interface Living {
  readonly path: string
  /** Synchronous, best effort, does not throw. */
  remove(): void
}

const living = new Set<Living>()

/** Newest first: what lies in a directory goes before it. */
function removeAll(): void {
  for (const directory of [...living].reverse()) directory.remove()
}

/** Has a directory removed when the process exits before its scope was released. One listener serves all, while there are any. */
export function enlist(directory: Living): void {
  if (living.size === 0) process.on('exit', removeAll)
  living.add(directory)
}

/** The directory is gone. Idempotent. */
export function delist(directory: Living): void {
  if (living.delete(directory) && living.size === 0) process.off('exit', removeAll)
}

/** Whether a path is a directory of this process: no sweep of ours looks at it. */
export function isLiving(path: string): boolean {
  for (const directory of living) if (directory.path === path) return true
  return false
}
