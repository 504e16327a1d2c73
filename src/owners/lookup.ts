import { lookup } from 'node:dns'
import { isIP } from 'node:net'
import { onAbort } from '../aborts.ts'
import { TunnelError } from '../errors.ts'
import { unlessAborted } from '../wait.ts'

/** A look-up holds one of libuv's four threads, which clean-up needs, too. */
const MAX_AT_ONCE = 2
let running = 0
/** In the order they came. */
const waiting = new Set<() => void>()

function proceed(): void {
  for (const start of waiting) {
    if (running >= MAX_AT_ONCE) return
    waiting.delete(start)
    start()
  }
}

const ask = (host: string, signal: AbortSignal): Promise<string[]> =>
  new Promise((resolve, reject) => {
    const start = () => {
      takeBack()
      running += 1
      lookup(host, { all: true, verbatim: true }, (error, found) => {
        running -= 1
        proceed()
        if (error === null) resolve(found.map(({ address }) => address))
        else reject(new TunnelError('ERR_DNS', `could not resolve ${host}: ${error.code}`, { cause: error, phase: 'dns' }))
      })
    }
    // A look-up that nobody waits for would only hold up the others.
    const takeBack = onAbort(signal, () => waiting.delete(start))
    waiting.add(start)
    proceed()
  })

/**
 * All addresses of a host, in the resolver's order; a literal is its own address. At most two look-ups run at once in the process.
 * Rejects with `ERR_DNS`, or the signal's reason: a look-up that runs cannot be stopped, its late answer is dropped.
 */
export async function lookupAll(host: string, signal: AbortSignal): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host]
  signal.throwIfAborted()
  return await unlessAborted(ask(host, signal), signal)
}
