import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** A process as /proc tells it. */
export interface ProcessEntry {
  readonly pid: number
  readonly command: string
  readonly isZombie: boolean
}

/** All descendants of a process, zombies among them, found by the chain of parents. Without /proc: none. */
export function descendantsOf(ancestor: number): ProcessEntry[] {
  const children = new Map<number, ProcessEntry[]>()
  for (const name of list('/proc')) {
    const entry = /^\d+$/.test(name) ? entryOf(name) : undefined
    if (entry === undefined) continue
    const siblings = children.get(entry.parent) ?? []
    children.set(entry.parent, siblings)
    siblings.push(entry)
  }
  const found: ProcessEntry[] = []
  const visit = (pid: number): void => {
    for (const child of children.get(pid) ?? []) {
      found.push(child)
      visit(child.pid)
    }
  }
  visit(ancestor)
  return found
}

/** What each open descriptor of this process leads to, without the one that lists them: a path, `pipe:[7]`, `socket:[8]`. */
export function openDescriptors(): string[] {
  // The listing's own descriptor is closed by now, so its link is gone.
  return list('/proc/self/fd').flatMap((name) => link(`/proc/self/fd/${name}`) ?? [])
}

/** The inode of a socket's link; `undefined` for other descriptors. */
export function socketInode(link: string): string | undefined {
  return /^socket:\[(\d+)\]$/.exec(link)?.[1]
}

/** Reads what may be gone, or may not exist on this system, as nothing. */
export function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended meanwhile, or there is no such table here.
    return ''
  }
}

function entryOf(name: string): (ProcessEntry & { parent: number }) | undefined {
  // The command is in parentheses and may hold any character, ') ' too.
  const [, command, state, parent] = /\((.*)\) (\S) (\d+) /s.exec(read(`/proc/${name}/stat`)) ?? []
  if (command === undefined) return undefined
  return { pid: Number(name), command, isZombie: state === 'Z', parent: Number(parent) }
}

function list(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    // There is no /proc on this system.
    return []
  }
}

function link(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    // Closed meanwhile.
    return undefined
  }
}
