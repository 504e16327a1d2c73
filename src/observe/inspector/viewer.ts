import type { ServerResponse } from 'node:http'
import type { Model } from './model.ts'
import type { Sample, ShownDestination, ShownPool } from './wire.ts'

/** Destinations in one message. */
const BATCH = 500
const PING_MILLIS = 10_000

/**
 * One open stream of server-sent events. What it has still to be told is a set of ids, never a queue of messages: a viewer that reads
 * slowly, or not at all, costs one set, and sees the newest when it reads on.
 */
export class Viewer {
  readonly #response: ServerResponse
  readonly #pending: Set<string>
  #stats = ''
  #sampleAt = 0
  #isReady = false
  #saidAt = 0

  constructor(response: ServerResponse, ids: Iterable<string>) {
    this.#response = response
    this.#pending = new Set(ids)
  }

  mark(id: string): void {
    this.#pending.add(id)
  }

  /** Says what is new, as much as the connection takes. */
  tell(model: Model, pool: ShownPool, sample: Sample | undefined): void {
    if (this.#response.writableNeedDrain || this.#response.closed) return
    const stats = JSON.stringify([pool.state, pool.stats])
    if (stats !== this.#stats) this.say('pool', pool)
    this.#stats = stats
    if (sample !== undefined && sample.at > this.#sampleAt) this.say('sample', sample)
    this.#sampleAt = sample?.at ?? 0
    while (this.#pending.size > 0 && !this.#response.writableNeedDrain) this.#sayBatch(model)
    if (this.#pending.size === 0 && !this.#isReady) {
      this.#isReady = true
      this.say('ready', {})
    }
    if (Date.now() - this.#saidAt > PING_MILLIS) this.say('ping', {})
  }

  say(event: string, data: unknown): void {
    this.#saidAt = Date.now()
    this.#response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  end(): void {
    this.#response.end()
  }

  #sayBatch(model: Model): void {
    const rows: ShownDestination[] = []
    const gone: string[] = []
    for (const id of this.#pending) {
      this.#pending.delete(id)
      const row = model.show(id)
      if (row === undefined) gone.push(id)
      else rows.push(row)
      if (rows.length + gone.length === BATCH) break
    }
    if (rows.length > 0) this.say('rows', rows)
    if (gone.length > 0) this.say('gone', gone)
  }
}
