import type { EventEmitter } from 'node:events'

/** Resolves at 'close'. Not by `once` of node:events, which rejects when an 'error' comes before. */
export function closed(emitter: EventEmitter): Promise<void> {
  return new Promise((resolve) => {
    emitter.once('close', resolve)
  })
}
