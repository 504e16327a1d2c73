import { createHash, randomInt } from 'node:crypto'
import { open, readFile, stat, unlink } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { TunnelError } from '../errors.ts'
import { codeOf, isAbsent } from '../owners/directory/disk-error.ts'
import { shown } from '../shown.ts'
import { holderText, isAbandoned } from './lock-holder.ts'

const LONGEST_PAUSE_MILLIS = 20

/**
 * Runs `fn` while this process alone has the file `path`, which exists exactly that long. Waits for another that has it until
 * `signal` aborts, at most `mostWaitMillis`: then `ERR_OPEN_TIMEOUT`. The lock of a process that died is broken.
 */
export async function withLock<T>(path: string, signal: AbortSignal, fn: () => Promise<T>, mostWaitMillis = 5_000): Promise<T> {
  const lock = await take(path, signal, mostWaitMillis)
  try {
    return await fn()
  } finally {
    // Another may have broken it, having taken us for dead.
    await removeIf(path, lock)
  }
}

/** Looks again and again because there is no other way to wait for a file to go that does not hold a descriptor. */
async function take(path: string, signal: AbortSignal, mostWaitMillis: number): Promise<string> {
  const deadline = performance.now() + mostWaitMillis
  for (;;) {
    signal.throwIfAborted()
    const lock = await create(path)
    if (lock !== undefined) return lock
    const held = await look(path)
    if (held !== undefined && isAbandoned(held.text, held.ageMillis)) await breakLock(path, held.identity, signal)
    else if (performance.now() > deadline) throw heldTooLong(path, mostWaitMillis, held?.text)
    else await setTimeout(randomInt(1, LONGEST_PAUSE_MILLIS), undefined, { signal })
  }
}

/** Creates the lock; `undefined` when there is one. */
async function create(path: string): Promise<string | undefined> {
  const handle = await open(path, 'wx', 0o600).catch((error) => {
    if (codeOf(error) === 'EEXIST') return undefined
    throw error
  })
  if (handle === undefined) return undefined
  try {
    const text = holderText()
    await handle.writeFile(text)
    return identityOf(text)
  } catch (error) {
    await unlink(path)
    throw error
  } finally {
    await handle.close()
  }
}

async function look(path: string): Promise<{ text: string; identity: string; ageMillis: number } | undefined> {
  try {
    const { ino, mtimeNs, mtimeMs } = await stat(path, { bigint: true })
    const text = await readFile(path, 'utf8')
    return { text, identity: identityOf(text || `${ino} ${mtimeNs}`), ageMillis: Date.now() - Number(mtimeMs) }
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

/**
 * Two that find the same dead lock must not both remove it: the second might remove the lock the first has taken since. The right
 * to remove this very lock is a lock itself, named after it, and whoever has that right looks again.
 */
async function breakLock(path: string, identity: string, signal: AbortSignal): Promise<void> {
  await withLock(`${path}.${identity}`, signal, () => removeIf(path, identity))
}

async function removeIf(path: string, identity: string): Promise<void> {
  if ((await look(path))?.identity !== identity) return
  await unlink(path).catch((error) => {
    if (!isAbsent(error)) throw error
  })
}

/** Short enough for a file name; no two locks ever say the same. */
function identityOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

function heldTooLong(path: string, waitedMillis: number, text = ''): TunnelError {
  const holder = shown(text.trim()) || 'its holder is gone by now'
  const message = `waited ${waitedMillis} ms for the lock ${shown(path)} (${holder})`
  return new TunnelError('ERR_OPEN_TIMEOUT', `${message}; if no process is using it, remove it`, { phase: 'hostkey' })
}
