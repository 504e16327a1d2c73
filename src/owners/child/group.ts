import { allProcesses, childrenOf, entryOf, hasProc, type ProcessEntry } from './proc.ts'

/** Sends a signal to one process, or to all of a group when negative; false when there is none. Does not throw. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name)
    return true
  } catch {
    // It has ended, or has become somebody else's: either way there is nothing to end.
    return false
  }
}

/** What is left of a process group. */
export interface GroupRemains {
  readonly isAlive: boolean
  /** Ended, and not collected by their parent: `kill(-group, 0)` counts them as there. */
  readonly zombies: readonly ProcessEntry[]
}

const NOTHING: GroupRemains = { isAlive: false, zombies: [] }

/**
 * Looks at a group whose leader we have collected. When it is empty this costs one system call; else, on Linux, a look at every process.
 * Throws for want of a descriptor.
 */
export function remainsOf(group: number): GroupRemains {
  if (!signal(-group, 0)) return NOTHING
  if (!hasProc) return { isAlive: true, zombies: [] }
  const members = [...allProcesses()].filter((entry) => entry.group === group)
  return { isAlive: members.some(({ isZombie }) => !isZombie), zombies: members.filter(({ isZombie }) => isZombie) }
}

/** What a process has started and not collected yet, in its own group: for ssh the command that reaches the host through a jump. */
export function livingChildrenOf(pid: number): number[] {
  if (!hasProc) return []
  try {
    return childrenOf(pid).filter((child) => {
      const entry = entryOf(child)
      return entry !== undefined && entry.group === pid && !entry.isZombie
    })
  } catch {
    // No descriptor is left to look with: then the group is signalled as a whole.
    return []
  }
}
