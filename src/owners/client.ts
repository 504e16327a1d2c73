import type { Duplex } from 'node:stream'
import type { Client } from 'ssh2'
import { load } from './load.ts'
import type { Held } from './scope.ts'

let loading: Promise<typeof import('ssh2')> | undefined

/** The ssh2 library, loaded at the first dial: importing it costs more than all of our own code. Rejects with `ERR_LOCAL_LIMIT`, and then tries again at the next. */
export function loadSsh2(): Promise<typeof import('ssh2')> {
  loading ??= load(() => import('ssh2')).then(
    (module) => module.default,
    (error) => {
      loading = undefined
      throw error
    },
  )
  return loading
}

/**
 * Makes an ssh2 client on a stream that we own. Its life is that of the stream: asked to end, it says goodbye and closes its side; forced,
 * the stream is destroyed by us, because `client.destroy()` does nothing once `end()` was called (ssh2 #1124).
 */
export function ownClient(ssh2: typeof import('ssh2'), stream: Duplex, held: Held): Client {
  const client = new ssh2.Client()
  // ssh2 may report one failure twice, the second time after 'close': this listener stays for ever.
  client.on('error', () => {})
  held.askBy(() => {
    // Our side has ended already, and the other never will: ssh2 would do nothing.
    if (!stream.writable) return void stream.destroy()
    try {
      client.end()
    } catch {
      // It fails when the protocol has ended by itself; the grace and then force see to the stream.
    }
  })
  return client
}
