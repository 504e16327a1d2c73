import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'

const TOKEN_BYTES = 32
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** A refusal: an HTTP status, and why in words. */
export interface Refusal {
  readonly status: number
  readonly why: string
}

/**
 * Who may come in. The token is in the URL's fragment, which no browser sends: the page shows it once and gets a cookie for it that no
 * script can read and no other site can use. Another site that makes a browser ask (rebound name, form, image, script) has the
 * wrong Host or Origin.
 */
export class Door {
  readonly token = randomBytes(TOKEN_BYTES).toString('base64url')
  readonly #session = randomBytes(TOKEN_BYTES).toString('base64url')
  readonly #port: number
  readonly #isRemote: boolean

  constructor(port: number, isRemote: boolean) {
    this.#port = port
    this.#isRemote = isRemote
  }

  /** Why a request is refused, whatever it asks for; `undefined` when it is not. */
  refusal({ method, headers }: IncomingMessage): Refusal | undefined {
    if (method !== 'GET') return { status: 405, why: 'only GET' }
    const { host = '', origin } = headers
    if (!this.#isOurs(host)) return { status: 421, why: 'this server is asked for by its own address only' }
    if (origin !== undefined && origin !== `http://${host}`) return { status: 403, why: 'another origin' }
    const site = headers['sec-fetch-site']
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return { status: 403, why: 'another site' }
    return undefined
  }

  /** The cookie for a token that is right. */
  cookieFor({ headers }: IncomingMessage): string | undefined {
    if (!isEqual(headers.authorization ?? '', `Bearer ${this.token}`)) return undefined
    return `${this.#name}=${this.#session}; Path=/; HttpOnly; SameSite=Strict`
  }

  isKnown({ headers }: IncomingMessage): boolean {
    const cookies = (headers.cookie ?? '').split('; ')
    return cookies.some((cookie) => isEqual(cookie, `${this.#name}=${this.#session}`))
  }

  /** Cookies know no ports: two inspectors on one machine must not take each other's. */
  get #name(): string {
    return `warren-${this.#port}`
  }

  #isOurs(given: string): boolean {
    const suffix = `:${this.#port}`
    const host = given.endsWith(suffix) ? given.slice(0, -suffix.length) : this.#port === 80 ? given : ''
    if (LOOPBACK.includes(host)) return true
    return this.#isRemote && (isIP(host.replace(/^\[|\]$/g, '')) !== 0 || host.toLowerCase() === hostname().toLowerCase())
  }
}
