import { open } from 'node:fs/promises'
import { shown } from '../shown.ts'
import type { ResolvedTarget } from '../target.ts'
import { unlessAborted } from '../wait.ts'
import type { Acquaintances } from './accept-new.ts'
import { type HostKey, keyText } from './key.ts'
import { type Known, lookUp } from './known.ts'
import { objection } from './known-hosts.ts'
import type { KnownHostsFile } from './known-hosts-file.ts'
import { withLock } from './lock.ts'
import { fileError, refusal } from './refusal.ts'

interface Meeting {
  readonly target: ResolvedTarget
  readonly key: HostKey
  settle(outcome: Promise<void>): void
}

/** What a name must be so that its line means this host and nothing else. */
const PLAIN_NAME = /^[\w.:%[\]-]+$/
const NEW_LINE = 10

/**
 * Keys accepted at first contact and written to a known_hosts file. Those that come while the lock is waited for share it, and
 * one append.
 */
export class AcceptedFile implements Acquaintances {
  readonly #file: KnownHostsFile
  readonly #waiting = new Set<Meeting>()
  #isWriting = false
  #lockWait = new AbortController()

  constructor(file: KnownHostsFile) {
    this.#file = file
  }

  lookUp(target: ResolvedTarget, signal?: AbortSignal): Promise<Known> {
    return lookUp([this.#file], target, signal)
  }

  async add(target: ResolvedTarget, key: HostKey, signal: AbortSignal): Promise<void> {
    if (!PLAIN_NAME.test(target.hostKeyName))
      throw refusal(`no line can be written for the name ${shown(target.hostKeyName)}; set a hostKeyAlias`)
    if (decide(await this.lookUp(target, signal), key)) return
    let settle: Meeting['settle'] = () => {}
    const settled = new Promise<void>((resolve) => {
      settle = resolve
    })
    const meeting = { target, key, settle }
    this.#waiting.add(meeting)
    if (!this.#isWriting) void this.#writeAll()
    try {
      await unlessAborted(settled, signal)
    } finally {
      // Nobody waits any longer: neither do we for the lock.
      if (this.#waiting.delete(meeting) && this.#waiting.size === 0) this.#lockWait.abort()
    }
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.size > 0) {
      this.#lockWait = new AbortController()
      let batch: readonly Meeting[] = []
      let outcomes = new Map<Meeting, Promise<void>>()
      try {
        await withLock(`${this.#file.path}.lock`, this.#lockWait.signal, async () => {
          batch = this.#takeBatch()
          outcomes = await this.#write(batch)
        })
      } catch (error) {
        // Those who had it given up are gone; others may have come.
        if (batch.length === 0 && this.#lockWait.signal.aborted) continue
        if (batch.length === 0) batch = this.#takeBatch()
        const failure = fileError(error, `cannot add a host key to ${this.#file.path}`)
        for (const meeting of batch) outcomes.set(meeting, Promise.reject(failure))
      }
      for (const [meeting, outcome] of outcomes) meeting.settle(outcome)
    }
    this.#isWriting = false
  }

  /** One of each name: who comes second under a name must see the line of the first. */
  #takeBatch(): readonly Meeting[] {
    const batch = new Map<string, Meeting>()
    for (const meeting of this.#waiting) {
      const name = meeting.target.hostKeyName.toLowerCase()
      if (batch.has(name)) continue
      batch.set(name, meeting)
      this.#waiting.delete(meeting)
    }
    return [...batch.values()]
  }

  async #write(batch: readonly Meeting[]): Promise<Map<Meeting, Promise<void>>> {
    const outcomes = new Map<Meeting, Promise<void>>()
    const lines: string[] = []
    for (const meeting of batch) {
      // Nothing is written for a host that is known by now.
      const decided = this.lookUp(meeting.target).then((known) => {
        if (!decide(known, meeting.key)) lines.push(`${meeting.target.hostKeyName} ${keyText(meeting.key)}\n`)
      })
      outcomes.set(meeting, decided)
    }
    await Promise.allSettled(outcomes.values())
    if (lines.length > 0) await append(this.#file.path, lines.join(''))
    return outcomes
  }
}

/** Whether the key is known; throws when another is, or when it is revoked. */
function decide(known: Known, key: HostKey): boolean {
  const error = objection(known, key.blob)
  if (error !== undefined) throw error
  return known.judge(key.blob) === 'known'
}

/**
 * One write, which O_APPEND keeps whole among others'. A file that does not end a line (ssh was cut off, an editor) gets that
 * ended first.
 */
async function append(path: string, text: string): Promise<void> {
  const handle = await open(path, 'a+', 0o600)
  try {
    const { size } = await handle.stat()
    const { buffer } = await handle.read(Buffer.alloc(1, NEW_LINE), 0, 1, Math.max(0, size - 1))
    const bytes = Buffer.from(buffer[0] === NEW_LINE ? text : `\n${text}`)
    const { bytesWritten } = await handle.write(bytes)
    if (bytesWritten < bytes.length) throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' })
  } finally {
    await handle.close()
  }
}
