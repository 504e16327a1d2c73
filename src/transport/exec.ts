import type { Duplex, Readable } from 'node:stream'
import { onAbort } from '../aborts.ts'
import type { ExecResult } from '../api/lease.ts'
import type { Clock } from '../clock.ts'
import { TunnelError } from '../errors.ts'
import { shown } from '../shown.ts'
import type { Run } from './transport.ts'

/** The channel of a command: what it says, and takes. It emits 'exit' with a status, or with null and a signal's name. */
export type CommandStream = Duplex & { readonly stderr: Readable }

/** How a command has ended: by its status, by a signal, or untold. */
export type Exit = Pick<ExecResult, 'exitCode' | 'signal'>

/** Nothing has been told. */
export const noExit = (): Exit => ({ exitCode: null, signal: null })

/** Listens for how a command ends, which a server may tell in the same breath in which it starts it: call this in the callback that brings the channel. */
export function watchExit(stream: CommandStream): () => Exit {
  let exit = noExit()
  stream.on('exit', (exitCode: number | null, signal?: string) => {
    exit = { exitCode, signal: signal === undefined ? null : shown(signal, 40) }
  })
  return () => exit
}

/** What a command runs under. */
export interface Circumstances {
  /** Why the connection is gone, if it is. */
  readonly lost: () => TunnelError | undefined
  readonly exit: () => Exit
  readonly clock: Clock
  /** What is left of the command's time. */
  readonly leftMillis: number
}

/** What a stream has said, as long as it is not too much. */
class Output {
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(readable: NodeJS.ReadableStream, mostBytes: number, tooMuch: () => void) {
    readable.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.length
      if (this.#bytes <= mostBytes) this.#chunks.push(chunk)
      else tooMuch()
    })
  }

  get content(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  /** What still comes is not kept. */
  drop(): void {
    this.#chunks = []
    this.#bytes = Number.POSITIVE_INFINITY
  }
}

/** Writes a command's input and gathers what it says until its channel closes. Rejects when there is too much of it, when time is up, or when the connection is lost. */
export function collect(stream: CommandStream, run: Run, { lost, exit, clock, leftMillis }: Circumstances): Promise<ExecResult> {
  return new Promise<ExecResult>((resolve, reject) => {
    const fail = (error: unknown) => {
      clock.clearTimeout(timer)
      takeBack()
      stdout.drop()
      stderr.drop()
      reject(error)
    }
    const tooMuch = (name: string) => () =>
      fail(
        new TunnelError('ERR_EXEC', `the command wrote more than ${run.maxOutputBytes} bytes to ${name}; raise maxOutputBytes`),
      )
    const stdout = new Output(stream, run.maxOutputBytes, tooMuch('stdout'))
    const stderr = new Output(stream.stderr, run.maxOutputBytes, tooMuch('stderr'))
    const timer = clock.setTimeout(
      () => fail(new TunnelError('ERR_EXEC', `the command did not end within ${run.timeoutMillis} ms`)),
      leftMillis,
    )
    const takeBack = onAbort(run.signal, () => fail(run.signal?.reason))
    const finish = () => {
      const error = lost()
      if (error !== undefined) return fail(error)
      clock.clearTimeout(timer)
      takeBack()
      resolve({ stdout: stdout.content, stderr: stderr.content, ...exit() })
    }
    stream.on('error', fail)
    // Of the two ends of data the one of stderr may be told later.
    stream.on('close', () => (stream.stderr.readableEnded || lost() ? finish() : stream.stderr.once('end', finish)))
    stream.resume()
    stream.stderr.resume()
    stream.end(run.input)
  })
}
