import { lookup } from 'node:dns'
import { isIP } from 'node:net'
import { TunnelError } from '../errors.ts'
import { unlessAborted } from '../wait.ts'

/** A look-up holds one of libuv's four threads, which clean-up needs, too. */
const MAX_AT_ONCE = 2
let running = 0
const queue: Array<() => void> = []

const ask = (host: string): Promise<string[]> =>
  new Promise((resolve, reject) => {
    const start = () => {
      running += 1
      lookup(host, { all: true, verbatim: true }, (error, found) => {
        running -= 1
        queue.shift()?.()
        if (error === null) resolve(found.map(({ address }) => address))
        else reject(new TunnelError('ERR_DNS', `could not resolve ${host}: ${error.code}`, { cause: error, phase: 'dns' }))
      })
    }
    if (running < MAX_AT_ONCE) start()
    else queue.push(start)
  })

/**
 * All addresses of a host, in the resolver's order; a literal is its own address. At most two look-ups run at once in the process.
 * Rejects with `ERR_DNS`, or the signal's reason: the look-up itself cannot be stopped, its late answer is dropped.
 */
export async function lookupAll(host: string, signal: AbortSignal): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host]
  return await unlessAborted(ask(host), signal)
}
