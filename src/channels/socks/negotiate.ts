import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Credentials } from '../../options/forward.ts'
import {
  CONNECT,
  chosen,
  loggedIn,
  NO_LOGIN,
  PASSWORD_LOGIN,
  type Parsed,
  type Presented,
  parseGreeting,
  parseLogin,
  parseRequest,
  REPLY,
  reply,
} from './protocol.ts'

/** Where a client wants to go; or what it is told before it is sent away, if anything. */
export type Negotiated =
  | { readonly to: { readonly host: string; readonly port: number } }
  | { readonly refusal: Buffer | undefined }

const KEY = randomBytes(32)
const blurred = (value: string | Buffer) => createHmac('sha256', KEY).update(value).digest()

/** Whether the right user name and password were presented; takes as long whatever was, and wherever it differs. */
export function isRight({ username, password }: Presented, expected: Credentials): boolean {
  const isName = timingSafeEqual(blurred(username), blurred(expected.username))
  const isPassword = timingSafeEqual(blurred(password), blurred(expected.password.reveal()))
  return isName && isPassword
}

/** Waits until more lies there, or its end: false when nothing more comes. */
function more(client: Socket): Promise<boolean> {
  if (client.readableEnded || client.destroyed) return Promise.resolve(false)
  return new Promise((resolve) => {
    const settle = (isMore: boolean) => {
      client.off('readable', readable).off('end', over).off('close', over)
      resolve(isMore)
    }
    const readable = () => settle(true)
    const over = () => settle(false)
    client.on('readable', readable).on('end', over).on('close', over)
  })
}

/** One message; what follows it stays unread. `undefined`: the client has left, or does not speak SOCKS5. */
async function receive<T>(client: Socket, parse: (bytes: Buffer) => Parsed<T>): Promise<T | undefined> {
  let bytes: Buffer = Buffer.alloc(0)
  for (;;) {
    const chunk: Buffer | null = client.read()
    if (chunk === null) {
      if (!(await more(client))) return undefined
      continue
    }
    bytes = Buffer.concat([bytes, chunk])
    const parsed = parse(bytes)
    if (parsed === 'wrong') return undefined
    if (parsed === 'more') continue
    if (parsed.length < bytes.length) client.unshift(bytes.subarray(parsed.length))
    return parsed.value
  }
}

/** Speaks SOCKS5 with a client up to its request. No message of it is longer than 513 bytes; how long it may take is the caller's. */
export async function negotiate(client: Socket, credentials: Credentials | undefined): Promise<Negotiated> {
  const away = (refusal?: Buffer): Negotiated => ({ refusal })
  const methods = await receive(client, parseGreeting)
  if (methods === undefined) return away()
  const method = credentials === undefined ? NO_LOGIN : PASSWORD_LOGIN
  if (!methods.includes(method)) return away(chosen(undefined))
  client.write(chosen(method))
  if (credentials !== undefined) {
    const presented = await receive(client, parseLogin)
    if (presented === undefined) return away()
    if (!isRight(presented, credentials)) return away(loggedIn(false))
    client.write(loggedIn(true))
  }
  const request = await receive(client, parseRequest)
  if (request === undefined) return away(reply(REPLY.failed))
  if (request.command !== CONNECT) return away(reply(REPLY.commandUnsupported))
  return request.to === undefined ? away(reply(REPLY.addressUnsupported)) : { to: request.to }
}
