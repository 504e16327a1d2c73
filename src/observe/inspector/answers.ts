import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Audience } from './audience.ts'
import type { Door } from './door.ts'
import type { PageFile } from './page-files.ts'

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

function say(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Buffer,
  more: Record<string, string> = {},
): void {
  response.writeHead(status, { ...HEADERS, 'content-type': type, ...more })
  response.end(body)
}

const sayText = (response: ServerResponse, status: number, text: string, more: Record<string, string> = {}) =>
  say(response, status, 'text/plain; charset=utf-8', `${text}\n`, more)

/** What answers need. */
export interface House {
  readonly door: Door
  readonly audience: Audience
  readonly files: ReadonlyMap<string, PageFile>
}

/** Answers one request. The page's own files hold nothing of the pool; all else asks for the cookie. */
export function answer(request: IncomingMessage, response: ServerResponse, { door, audience, files }: House): void {
  const refusal = door.refusal(request)
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://inspector')
  const file = files.get(pathname)
  if (refusal !== undefined) sayText(response, refusal.status, refusal.why, refusal.status === 405 ? { allow: 'GET' } : {})
  else if (file !== undefined) say(response, 200, file.type, file.body)
  else if (pathname === '/session') {
    const cookie = door.cookieFor(request)
    if (cookie === undefined) sayText(response, 401, 'the token of the URL that the inspector gave out is wrong or missing')
    else sayText(response, 200, 'welcome', { 'set-cookie': cookie })
  } else if (pathname !== '/stream' && pathname !== '/destination') sayText(response, 404, 'there is no such page')
  else if (!door.isKnown(request)) sayText(response, 401, 'open the URL that the inspector gave out')
  else if (pathname === '/destination')
    say(response, 200, 'application/json', JSON.stringify(audience.detail(searchParams.get('id') ?? '')))
  else if (audience.isFull) sayText(response, 503, 'too many are looking already', { 'retry-after': '5' })
  else {
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' })
    audience.admit(response)
  }
}
