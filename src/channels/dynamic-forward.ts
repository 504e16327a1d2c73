import type { Socket } from 'node:net'
import type { Remote } from '../api/forward.ts'
import type { TunnelError } from '../errors.ts'
import type { ResolvedForward } from '../options/forward.ts'
import { reset } from '../owners/reset.ts'
import type { Ground, Listening } from './ground.ts'
import { listenHere } from './listener.ts'
import { negotiate } from './socks/negotiate.ts'
import { REPLY, reply, replyFor } from './socks/protocol.ts'
import { splice } from './splice.ts'

/** A dynamic forward, checked. */
export type Dynamic = Extract<ResolvedForward, { kind: 'dynamic' }>

/** Tells it why, and is done with it. */
function sendAway(client: Socket, words: Buffer | undefined): void {
  if (client.destroyed) return
  client.resume()
  if (words === undefined) reset(client)
  else client.end(words, () => client.destroy())
}

/** Listens, and speaks SOCKS5 (CONNECT only) with each client: it is carried to wherever it wants to go, as seen from the server. */
export function listenDynamically(spec: Dynamic, ground: Ground): Promise<Listening> {
  const carry = async (client: Socket, to: Remote): Promise<void> => {
    try {
      const channel = await ground.openChannel(to, client)
      if (client.destroyed) return void channel.destroy()
      client.write(reply(REPLY.granted))
      splice(client, channel)
    } catch (error) {
      sendAway(client, reply(replyFor(error as TunnelError)))
      ground.refused(to, error as TunnelError)
    }
  }
  const serve = async (client: Socket): Promise<void> => {
    // Who connects and does not say what it wants costs a descriptor.
    const timer = ground.clock.setTimeout(() => reset(client), ground.channelTimeoutMillis)
    const said = await negotiate(client, spec.credentials)
    ground.clock.clearTimeout(timer)
    if ('to' in said) await carry(client, said.to)
    else sendAway(client, said.refusal)
  }
  return listenHere({ listen: spec.listen, label: 'socks', serve }, ground)
}
