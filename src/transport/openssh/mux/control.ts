import type { Socket } from 'node:net'
import { onAbort } from '../../../aborts.ts'
import type { Clock } from '../../../clock.ts'
import { TunnelError } from '../../../errors.ts'
import { connectHere } from '../../../owners/local-socket.ts'
import type { Scope } from '../../../owners/scope.ts'
import type { Bounds } from '../../transport.ts'
import { FrameCutter } from '../frames.ts'
import {
  helloMessage,
  LONGEST_MUX_FRAME,
  MUX_VERSION,
  type MuxAnswer,
  type MuxRequest,
  readAnswer,
  requestMessage,
} from './messages.ts'

/** Where a master listens, and whose connection to it is. */
export interface Master {
  readonly controlPath: string
  /** For people: `user@host:port#n`. */
  readonly host: string
  readonly scope: Scope
  readonly clock: Clock
}

/** A connection to a master's control socket: 0.1 ms and a descriptor, no process. One request at a time; the scope owns the socket. */
export class Control {
  readonly socket: Socket
  readonly #master: Master
  readonly #cutter: FrameCutter
  #lastId = 0
  #answered: ((answer: MuxAnswer | undefined) => void) | undefined

  /** Connects and exchanges greetings. Rejects with `ERR_LOST` when there is no master of this protocol, `ERR_CHANNEL_TIMEOUT`, `ERR_LOCAL_LIMIT` or the signal's reason. */
  static async connect(master: Master, bounds: Bounds): Promise<Control> {
    const { controlPath, host, scope } = master
    const signal = bounds.signal ?? new AbortController().signal
    const socket = await connectHere({ socketPath: controlPath }, scope, signal).catch((cause) => {
      if (signal.aborted || (TunnelError.is(cause) && cause.code === 'ERR_LOCAL_LIMIT')) throw cause
      throw new TunnelError('ERR_LOST', `${host}: its ssh does not answer: ${cause.message}`, { cause })
    })
    const control = new Control(socket, master)
    try {
      const hello = control.#answer(bounds)
      socket.write(helloMessage())
      const answer = await hello
      if (answer.kind === 'hello' && answer.version === MUX_VERSION) return control
      throw control.#unexpected()
    } catch (error) {
      control.close()
      throw error
    }
  }

  private constructor(socket: Socket, master: Master) {
    this.socket = socket
    this.#master = master
    this.#cutter = new FrameCutter(LONGEST_MUX_FRAME, (frame) => this.#take(frame))
    socket.on('data', this.#read)
    // A master ends its side only as it goes; its answer is not awaited any more then, and a proxy is lost.
    socket.once('end', () => socket.destroy())
    socket.once('close', () => this.#answered?.(undefined))
  }

  /** Asks, and resolves with the answer, a refusal among them. Rejects as `connect` does; then the connection is of no more use. */
  async ask(request: MuxRequest, bounds: Bounds): Promise<MuxAnswer> {
    this.#lastId += 1
    const answer = this.#answer(bounds)
    this.socket.write(requestMessage(request, this.#lastId))
    return await answer
  }

  /** Becomes a proxy: everything from here on is for whoever calls this. Resolves with what has come already. Rejects as `ask` does. */
  async becomeProxy(bounds: Bounds): Promise<Buffer> {
    const answer = await this.ask({ kind: 'proxy' }, bounds)
    if (answer.kind !== 'proxy') throw this.#unexpected()
    this.socket.off('data', this.#read)
    return this.#cutter.takeRest()
  }

  close(): void {
    this.socket.destroy()
  }

  readonly #read = (chunk: Buffer): void => {
    if (!this.#cutter.push(chunk)) this.close()
  }

  #take(frame: Buffer): void {
    const answer = readAnswer(frame, this.#lastId)
    // What follows is no more in this protocol.
    if (answer?.kind === 'proxy') this.#cutter.stop()
    if (this.#answered === undefined || answer === undefined) this.close()
    else this.#answered(answer)
  }

  #answer({ signal, timeoutMillis }: Bounds): Promise<MuxAnswer> {
    const { clock, host } = this.#master
    return new Promise<MuxAnswer>((resolve, reject) => {
      const settle = (then: () => void) => {
        this.#answered = undefined
        clock.clearTimeout(timer)
        takeBack()
        then()
      }
      const fail = (error: unknown) =>
        settle(() => {
          this.close()
          reject(error)
        })
      const tooLate = () =>
        fail(
          new TunnelError('ERR_CHANNEL_TIMEOUT', `${host}: its ssh did not answer within ${timeoutMillis} ms`, { phase: 'open' }),
        )
      const timer = clock.setTimeout(tooLate, timeoutMillis)
      const takeBack = onAbort(signal, () => fail(signal?.reason))
      this.#answered = (answer) => (answer === undefined ? fail(this.#unexpected()) : settle(() => resolve(answer)))
      if (signal?.aborted) fail(signal.reason)
      else if (this.socket.destroyed) fail(this.#unexpected())
    })
  }

  #unexpected(): TunnelError {
    return new TunnelError(
      'ERR_LOST',
      `${this.#master.host}: its ssh closed the control connection, or does not speak PROTOCOL.mux ${MUX_VERSION}`,
    )
  }
}

/** One question on a connection of its own. Rejects as `Control.connect` does. */
export async function askMaster(master: Master, request: MuxRequest, bounds: Bounds): Promise<MuxAnswer> {
  const control = await Control.connect(master, bounds)
  try {
    return await control.ask(request, bounds)
  } finally {
    control.close()
  }
}
