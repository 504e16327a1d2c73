import { Socket } from 'node:net'
import type { Clock } from '../../clock.ts'
import type { Scope } from '../scope.ts'
import { checkPathLength } from './path-length.ts'

const DEADLINE_MILLIS = 1_000

/** What a sweep runs with. */
export interface Sweeping {
  readonly clock: Clock
  /** Ends the sweep; its reason is what the sweep rejects with. */
  readonly signal: AbortSignal
  /** Owns what the sweep opens. */
  readonly scope: Scope
}

/** Knocks at an owner socket: 'connected', or the errno name of why not. The connection is closed again at once. */
export async function askOwner(path: string, { clock, signal, scope }: Sweeping): Promise<string> {
  // Node would connect to the path cut short, which may be somebody.
  checkPathLength(path)
  return new Promise((resolve) => {
    let answer = 'ECANCELED'
    const socket = new Socket()
    const end = () => void socket.destroy()
    const held = scope.hold('socket', path, { force: end })
    const timer = clock.setTimeout(() => {
      answer = 'ETIMEDOUT'
      end()
    }, DEADLINE_MILLIS)
    signal.addEventListener('abort', end)
    socket.once('connect', () => {
      answer = 'connected'
      end()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      answer = error.code ?? error.message
    })
    socket.once('close', () => {
      clock.clearTimeout(timer)
      signal.removeEventListener('abort', end)
      held.strike()
      resolve(answer)
    })
    socket.unref().connect({ path })
  })
}
