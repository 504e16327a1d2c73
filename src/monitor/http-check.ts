import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import { onAbort } from '../aborts.ts'
import type { Remote } from '../api/forward.ts'

/** A body that is longer is not read to its end; its connection is closed. */
const LONGEST_BODY_BYTES = 65_536

const hostOf = (to: Remote): string => ('port' in to ? `${to.host ?? '127.0.0.1'}:${to.port}` : 'localhost')

/** Asks for one path; resolves when the answer has been read, rejects when it is not 2xx or 3xx. */
export function httpCheck(agent: Agent, to: Remote, path: string, signal: AbortSignal): Promise<void> {
  const { request } = process.getBuiltinModule('node:http')
  return new Promise((resolve, reject) => {
    const asked: ClientRequest = request({ agent, path, headers: { host: hostOf(to) } })
    const takeBack = onAbort(signal, () => asked.destroy(signal.reason))
    const settle = (error?: Error) => {
      takeBack()
      if (error === undefined) resolve()
      else reject(error)
    }
    asked.on('error', settle)
    asked.on('response', (answer: IncomingMessage) => {
      const status = answer.statusCode ?? 0
      const verdict = status >= 200 && status < 400 ? undefined : new Error(`HTTP ${status} from ${hostOf(to)}${path}`)
      let size = 0
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= LONGEST_BODY_BYTES) return
        settle(verdict)
        asked.destroy()
      })
      answer.on('end', () => settle(verdict))
      answer.on('error', settle)
    })
    asked.end()
  })
}
