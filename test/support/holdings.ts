import { readdirSync } from 'node:fs'
import { openDescriptors, read, socketInode } from '../../src/testing/proc.ts'
import { socketTable } from '../../src/testing/socket-table.ts'
import { fixturePids } from './fixtures.ts'

/** What the kernel says this process holds; cheap enough to be asked before and after every test. */
export interface Holdings {
  readonly children: ReadonlySet<string>
  readonly descriptors: ReadonlySet<string>
}

/** Descendants as `pid command`, and what descriptors lead to. */
export function holdings(): Holdings {
  return { children: new Set(descendants(process.pid)), descriptors: new Set(openDescriptors()) }
}

/** What there is now and was not then, a line for each: children, sockets, files. Pipes and event descriptors are Node's own. */
export function newSince(then: Holdings): string[] {
  const now = holdings()
  const children = [...now.children].filter((child) => !then.children.has(child))
  const descriptors = [...now.descriptors].filter((link) => !then.descriptors.has(link))
  const sockets = new Set(descriptors.flatMap((link) => socketInode(link) ?? []))
  const named = sockets.size === 0 ? undefined : socketTable(sockets)
  const open = descriptors.flatMap((link) => {
    const inode = socketInode(link)
    if (inode === undefined) return link.startsWith('/') && !link.startsWith('/dev/') ? [`open ${link}`] : []
    const entry = named?.get(inode)
    return [`${entry?.isListening ? 'listener' : 'socket'} ${entry?.name ?? link}`]
  })
  return [...children.map((child) => `child ${child}`), ...open]
}

/** By the kernel's own list of children, which saves reading about every process of the machine. */
function descendants(pid: number): string[] {
  const tasks = readTasks(pid)
  const children = tasks
    .flatMap((task) => read(`/proc/${pid}/task/${task}/children`).split(' '))
    .flatMap((word) => Number(word) || [])
  return children.flatMap((child) => {
    const command = read(`/proc/${child}/comm`).trim()
    // tsx starts its compiler whenever it first needs it.
    if (command === 'esbuild' || command === '') return []
    return [...(fixturePids.has(child) ? [] : [`${child} ${command}`]), ...descendants(child)]
  })
}

function readTasks(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    // It has ended meanwhile.
    return []
  }
}
