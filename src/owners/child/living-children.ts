import { signal } from './group.ts'

const living = new Set<number>()

function endAll(): void {
  for (const group of living) signal(-group, 'SIGTERM')
}

/** Has a child's group ended when this process exits in good order without having done so: where nothing else would. One listener serves all. */
export function enlistChild(group: number): void {
  if (living.size === 0) process.on('exit', endAll)
  living.add(group)
}

/** It is gone. Idempotent. */
export function delistChild(group: number): void {
  if (living.delete(group) && living.size === 0) process.off('exit', endAll)
}
