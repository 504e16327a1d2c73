import type { Connection, ServerChannel, Session } from 'ssh2'
import { signalName } from './commands.ts'
import { execute } from './execute.ts'
import { answerClose } from './ssh2-inside.ts'

/**
 * Serves one session: a command (a shell is one that reads its input and does nothing), its signals, and its close.
 * Returns what ends it when the connection is lost, which ssh2 does not tell sessions.
 */
export function serveSession(connection: Connection, session: Session, closed: () => void): () => void {
  const ending = new AbortController()
  const start = (accept: () => ServerChannel, command: string): void => {
    const channel = accept()
    channel.on('error', () => {})
    void execute(channel, command, ending.signal)
  }
  session.on('exec', (accept, _reject, { command }) => start(accept, command))
  session.on('shell', (accept) => start(accept, 'cat >/dev/null'))
  session.on('pty', (accept) => accept?.())
  session.on('env', (accept) => accept?.())
  session.on('signal', (accept, _reject, { name }) => {
    accept?.()
    const signal = signalName(name)
    if (signal !== undefined) ending.abort(signal)
  })
  session.once('close', () => {
    ending.abort('HUP')
    answerClose(connection, session)
    closed()
  })
  return () => ending.abort('HUP')
}
