import type { Socket } from 'node:net'
import type { TunnelError } from '../errors.ts'
import type { ResolvedForward } from '../options/forward.ts'
import { reset } from '../owners/reset.ts'
import { remoteName } from '../remote.ts'
import type { Ground, Listening } from './ground.ts'
import { listenHere } from './listener.ts'
import { splice } from './splice.ts'

/** A local forward, checked. */
export type Local = Extract<ResolvedForward, { kind: 'local' }>

/**
 * Listens, and carries each connection to `to` through the server. A connection that cannot be served is cut so that it looks like a
 * failure, not like an end of data; nothing is read from it before its channel is open.
 */
export function listenLocally(spec: Local, ground: Ground): Promise<Listening> {
  const serve = async (client: Socket): Promise<void> => {
    try {
      const channel = await ground.openChannel(spec.to, client)
      if (client.destroyed) channel.destroy()
      else splice(client, channel)
    } catch (error) {
      reset(client)
      ground.refused(spec.to, error as TunnelError)
    }
  }
  return listenHere({ ...spec, label: remoteName(spec.to), serve }, ground)
}
