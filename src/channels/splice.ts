import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { reset } from '../owners/reset.ts'

/**
 * Joins a client's socket and a channel until both have ended: each half-close is passed on, back-pressure holds both ways, and when either
 * breaks the other is cut, too. (`pipe` alone passes no error on and leaves the other side open.)
 */
export function splice(client: Socket, channel: Duplex): void {
  client.pipe(channel)
  channel.pipe(client)
  client.on('error', () => channel.destroy())
  client.on('close', (hadError) => {
    // What the client has sent in full may still wait for the server's window.
    if (hadError || !client.readableEnded || channel.writableFinished) channel.destroy()
    else channel.once('finish', () => channel.destroy())
  })
  channel.on('error', () => reset(client))
  channel.on('close', () => {
    if (channel.readableEnded) client.destroySoon()
    else reset(client)
  })
}
