import { execFile } from 'node:child_process'
import { request } from 'node:http'
import { promisify } from 'node:util'
import type { InspectorOptions, InspectorServer } from '../../src/api/inspector.ts'
import type { TunnelPool } from '../../src/api/pool.ts'
import { createInspectorServer } from '../../src/observe/inspector/index.ts'

let built: Promise<unknown> | undefined

/** Builds the page from what is there now, once per run. */
export const buildPage = (): Promise<unknown> => {
  built ??= promisify(execFile)('npm', ['run', '-s', 'page'])
  return built
}

/** An inspector whose page is built. */
export async function inspect(pool: TunnelPool, options?: InspectorOptions): Promise<InspectorServer> {
  await buildPage()
  return await createInspectorServer(pool, options)
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** One request, as it is said: node:http, because fetch sets the headers that are tested. */
export function get(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, method, agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (part) => {
        body += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
    asked.on('error', reject).end()
  })
}

/** The cookie for an inspector's URL. */
export async function enter({ url }: InspectorServer): Promise<{ base: string; cookie: string }> {
  const { origin, hash } = new URL(url)
  const { headers } = await get(`${origin}/session`, { authorization: `Bearer ${hash.slice(1)}` })
  return { base: origin, cookie: String(headers['set-cookie']).split(';')[0] ?? '' }
}

/** What a stream says, event by event, until it is closed. */
export function follow(base: string, cookie: string): { said: Array<[event: string, data: unknown]>; close: () => void } {
  const said: Array<[string, unknown]> = []
  let rest = ''
  const asked = request(`${base}/stream`, { headers: { cookie }, agent: false }, (response) => {
    response.on('error', () => {})
    response.setEncoding('utf8').on('data', (part: string) => {
      const blocks = (rest + part).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? []
        said.push([event, JSON.parse(data)])
      }
    })
  })
  asked.on('error', () => {}).end()
  return { said, close: () => void asked.destroy() }
}
