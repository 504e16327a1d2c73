import type { Socket } from 'node:net'
import { TunnelError } from '../../../errors.ts'
import { ownListener } from '../../../owners/listener.ts'
import type { Scope } from '../../../owners/scope.ts'
import { adoptStream } from '../../../owners/stream.ts'
import { quietly } from '../../../wait.ts'
import { string, uint32 } from '../wire.ts'
import type { Credential } from './credential.ts'
import { FrameReader } from './frames.ts'
import { loginKey, readSignRequest } from './sign-request.ts'

/** Requests and answers of the agent protocol (draft-ietf-sshm-ssh-agent). */
const FAILURE = 5
const REQUEST_IDENTITIES = 11
const IDENTITIES_ANSWER = 12
const SIGN_REQUEST = 13
const SIGN_RESPONSE = 14
/** More than any server lets one connection try. */
const MOST_SIGNATURES = 8

/** For whom the agent signs, and with what. */
export interface AgentDuty {
  readonly path: string
  readonly scope: Scope
  readonly user: string
  /** The host's key, once it is known to be good; until then nothing is shown or signed. */
  readonly hostKey: () => Promise<Buffer>
  readonly credentials: () => Promise<readonly Credential[]>
  /** Said at the first request: ssh logs in. */
  readonly asked: () => void
  /** There is nothing to log in with, or nobody to log in to: the dial ends. */
  readonly fail: (error: unknown) => void
  /** A key that was asked to sign did not. */
  readonly noteTrouble: (error: unknown) => void
}

/**
 * An SSH agent for one login of one ssh, on a socket in the tunnel's directory: keys reach it neither by disk nor by arguments nor by
 * environment. It lists the target's keys and signs, at most 8 times, what is a request to log in as this user with one of them, and nothing else.
 */
export class LoginAgent {
  readonly #duty: AgentDuty
  readonly #sockets = new Set<Socket>()
  #closeListener: () => void = () => {}
  #isClosed = false
  #signed = 0

  /** Listens. Rejects with `ERR_LOCAL_LIMIT` or `ERR_FORWARD_FAILED`. */
  static async serve(duty: AgentDuty): Promise<LoginAgent> {
    const agent = new LoginAgent(duty)
    const { close } = await ownListener({ path: duty.path }, duty.scope, (socket) => agent.#accept(socket))
    agent.#closeListener = close
    return agent
  }

  private constructor(duty: AgentDuty) {
    this.#duty = duty
  }

  /** The login is over: nothing more is signed. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#closeListener()
    for (const socket of this.#sockets) socket.destroy()
  }

  #accept(socket: Socket): void {
    adoptStream(socket, 'agent of a login', this.#duty.scope)
    if (this.#isClosed) return void socket.destroy()
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    const frames = new FrameReader()
    let answered: Promise<void> = Promise.resolve()
    socket.on('data', (chunk: Buffer) => {
      const requests = frames.push(chunk)
      if (requests === undefined) return void socket.destroy()
      for (const request of requests) {
        answered = answered.then(async () => {
          const answer = await this.#answer(request)
          if (!socket.destroyed) socket.write(string(answer))
        })
        quietly(answered)
      }
    })
    socket.once('end', () => socket.destroy())
    socket.resume()
  }

  async #answer(request: Buffer): Promise<Buffer> {
    try {
      if (request[0] === REQUEST_IDENTITIES) return await this.#list()
      if (request[0] === SIGN_REQUEST) return await this.#sign(request.subarray(1))
    } catch (error) {
      this.#duty.noteTrouble(error)
    }
    return Buffer.from([FAILURE])
  }

  async #list(): Promise<Buffer> {
    try {
      this.#duty.asked()
      await this.#duty.hostKey()
      const keys = await this.#duty.credentials()
      const listed = keys.flatMap(({ blob, comment }) => [string(blob), string(comment)])
      return Buffer.concat([Buffer.from([IDENTITIES_ANSWER]), uint32(keys.length), ...listed])
    } catch (error) {
      this.#duty.fail(error)
      throw error
    }
  }

  async #sign(body: Buffer): Promise<Buffer> {
    const { user, hostKey, credentials } = this.#duty
    const request = readSignRequest(body)
    const shown = request && loginKey(request, user, await hostKey())
    const known = await credentials()
    const listed = (blob: Buffer | undefined) => known.find((one) => blob !== undefined && one.blob.equals(blob))
    const key = listed(shown) && listed(request?.keyBlob)
    if (request === undefined || key === undefined || this.#isClosed || this.#signed >= MOST_SIGNATURES)
      throw new TunnelError('ERR_AGENT', 'ssh asked for a signature that is not for this login', { phase: 'auth' })
    this.#signed += 1
    return Buffer.concat([Buffer.from([SIGN_RESPONSE]), string(await key.sign(request.data, request.flags))])
  }
}
