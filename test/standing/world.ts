import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Standing, TcpAddress, UnixAddress } from '../../src/api/forward.ts'
import { clientOf, ending } from '../channels/world.ts'

/** What an endpoint tells, in order: `up`, `down CODE`, `refused CODE`. */
export function told(standing: Pick<Standing, 'on'>): string[] {
  const words: string[] = []
  for (const event of ['up', 'down', 'refused'] as const)
    standing.on(event, ({ cause }) => words.push(cause === undefined ? event : `${event} ${cause.code}`))
  return words
}

/** What an echo behind an endpoint makes of some words: the words, or how the client was cut off. */
export async function say(address: UnixAddress | TcpAddress, words = 'hello'): Promise<string> {
  const client = clientOf(address)
  let heard = ''
  client.on('data', (chunk: Buffer) => {
    heard += chunk
  })
  client.end(words)
  const end = await ending(client)
  client.destroy()
  return end === 'end' ? heard : end
}

/** A client whose first words have come back. */
export async function talking(address: UnixAddress | TcpAddress): Promise<Socket> {
  const client = clientOf(address)
  client.write('x')
  await once(client, 'data')
  return client
}
