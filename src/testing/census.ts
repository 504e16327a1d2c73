import { readdirSync, watch } from 'node:fs'
import { connect } from 'node:net'
import { closed } from './closed.ts'
import type { Census } from './contract.ts'
import { descendantsOf, openDescriptors, socketInode } from './proc.ts'
import { socketTable } from './socket-table.ts'

/** What may be asked of a census. */
export interface CensusOptions {
  runtimeDirectory?: string | undefined
}

let isWarm = false
const askedFor = new WeakMap<Census, CensusOptions>()

/**
 * Counts what this process holds, by the kernel and by Node. Taken at once: nothing of its own is under way meanwhile. Linux; elsewhere the kernel's part is empty.
 *
 * @param options.runtimeDirectory list the names in it, too
 */
export async function census(options: CensusOptions = {}): Promise<Census> {
  if (!isWarm) await warmUp()
  const descendants = descendantsOf(process.pid)
  const descriptors = openDescriptors()
  const sockets = socketTable(new Set(descriptors.flatMap((link) => socketInode(link) ?? [])))
  const taken: Census = {
    children: descendants.map(({ pid, command }) => `${pid} ${command}`),
    zombies: descendants.filter(({ isZombie }) => isZombie).length,
    descriptors: descriptors.length,
    listening: [...sockets.values()].flatMap(({ name, isListening }) => (isListening ? [name] : [])).sort(),
    handles: handles(),
    files: options.runtimeDirectory === undefined ? [] : names(options.runtimeDirectory),
  }
  askedFor.set(taken, options)
  return taken
}

/** The options a census was taken with, so that the next one can be compared to it. */
export function optionsOf(taken: Census): CensusOptions {
  return askedFor.get(taken) ?? {}
}

/**
 * Has Node and what a pool loads make now what they make when first needed, and keep: standard output, a descriptor that libuv has in reserve for
 * streams, the one through which the kernel tells of files, and a listener by which `tmp` hears of the process's end.
 */
async function warmUp(): Promise<void> {
  isWarm = true
  void [process.stdout, process.stderr]
  await import('tmp')
  try {
    watch('/', { persistent: false }).close()
  } catch {
    // No such thing here, or none is left: then a pool does without, too.
  }
  const socket = connect({ path: '/dev/null/nothing' })
  socket.on('error', () => {})
  await closed(socket)
}

function handles(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1
  for (const event of process.eventNames()) counts[`process.on(${String(event)})`] = process.listenerCount(event)
  return counts
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
