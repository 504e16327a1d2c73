import { once } from 'node:events'
import { type Agent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { TunnelPool } from '../../src/api/pool.ts'
import { text } from '../channels/world.ts'

/** One request and its whole answer; the body, if any, is sent at once. */
export async function ask(
  agent: Agent,
  options: RequestOptions,
  body?: string,
): Promise<{ status: number; text: string; reused: boolean }> {
  const isTls = 'protocol' in agent && agent.protocol === 'https:'
  const asked = (isTls ? httpsRequest : httpRequest)({ agent, method: body === undefined ? 'GET' : 'POST', ...options })
  asked.end(body)
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, text: await text(response), reused: asked.reusedSocket }
}

/** What a pool holds for requests: leases out, and channels whether leased or parked. */
export const held = (pool: TunnelPool): { leases: number; channels: number } => ({
  leases: pool.stats.leases,
  channels: pool.resources().filter(({ kind }) => kind === 'channel').length,
})
