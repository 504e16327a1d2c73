import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { isAbsent } from '../owners/directory/disk-error.ts'
import { unlessAborted } from '../wait.ts'
import { HashedNames } from './hashed-names.ts'
import { fileError } from './refusal.ts'
import { Table } from './table.ts'

/** Kernels stamp times by a clock that ticks every 1 to 10 ms: within one tick a file can change again and look the same. */
const SAME_TICK_MILLIS = 50
const NEW_LINE = 10
const NOTHING: Buffer = Buffer.alloc(0)

/** A known_hosts file as it is now: read when it has changed, parsed from where it has changed. */
export class KnownHostsFile {
  readonly path: string
  readonly #hashedNames = new HashedNames()
  #table: Table
  #content = NOTHING
  #stamp = ''
  #running: Promise<unknown> = Promise.resolve()
  #next: Promise<Table> | undefined

  constructor(path: string) {
    this.path = path
    this.#table = new Table(path, this.#hashedNames)
  }

  /** What the file holds; a missing file holds nothing. All who ask before a look at the file begins share that look. */
  current(signal?: AbortSignal): Promise<Table> {
    this.#next ??= this.#lookNext()
    return unlessAborted(this.#next, signal)
  }

  async #lookNext(): Promise<Table> {
    await this.#running.catch(() => {
      // Told to those who waited for it.
    })
    const look = this.#look()
    this.#next = undefined
    this.#running = look
    return look
  }

  async #look(): Promise<Table> {
    try {
      if (this.#stamp === '' || this.#stamp !== stampOf(await stat(this.path, { bigint: true }))) await this.#read()
    } catch (error) {
      if (!isAbsent(error)) throw fileError(error, `cannot read the known hosts in ${this.path}`)
      this.#stamp = ''
      await this.#become(NOTHING)
    }
    return this.#table
  }

  async #read(): Promise<void> {
    // Opening a pipe would wait for its writer.
    const handle = await open(this.path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stats = await handle.stat({ bigint: true })
      await this.#become(await contentOf(handle, stats))
      this.#stamp = Date.now() - Number(stats.mtimeMs) > SAME_TICK_MILLIS ? stampOf(stats) : ''
    } finally {
      await handle.close()
    }
  }

  async #become(content: Buffer): Promise<void> {
    const old = this.#content
    const isLonger = content.subarray(0, old.length).equals(old) && (old.length === 0 || old.at(-1) === NEW_LINE)
    const table = isLonger ? this.#table : new Table(this.path, this.#hashedNames)
    await table.extend(content.toString('latin1', isLonger ? old.length : 0))
    this.#table = table
    this.#content = content
  }
}

/** `/dev/null` is how ssh is told that there are no known hosts. */
async function contentOf(handle: FileHandle, stats: BigIntStats): Promise<Buffer> {
  if (stats.isCharacterDevice()) return NOTHING
  if (!stats.isFile()) throw new Error('it is not a file')
  return handle.readFile()
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join()
}
