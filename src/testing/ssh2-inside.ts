import type { Connection, ServerChannel, Session } from 'ssh2'

/** RFC 4254, section 5.1. */
export const PROHIBITED = 1
export const CONNECT_FAILED = 2

/** Answers a channel open with a refusal: one of the reasons above and a text. */
export type Refuse = (reject: () => void, why: { readonly reason: number; readonly text: string }) => void

interface Protocol {
  channelOpenFail(recipient: number, reason: number, text: string): void
  channelClose(recipient: number): void
}

/**
 * Refusals with a reason and a text, as sshd gives them: ssh2's own `reject` sends reason 2 without a word.
 * It calls the protocol synchronously, which is where they are put in.
 */
export function refusals(connection: Connection): Refuse {
  const protocol = protocolOf(connection)
  const plain = protocol.channelOpenFail.bind(protocol)
  let said: { readonly reason: number; readonly text: string } | undefined
  protocol.channelOpenFail = (recipient, reason, text) => plain(recipient, said?.reason ?? reason, said?.text ?? text)
  return (reject, why) => {
    said = why
    reject()
    said = undefined
  }
}

/** Ends what we send on a channel once all of it is on the way, and only that: ssh2's `end` closes the other direction, too. */
export function sendEof(channel: ServerChannel): void {
  channel.write(Buffer.alloc(0), () => {
    const eof: unknown = Reflect.get(channel, 'eof')
    if (typeof eof === 'function') eof.call(channel)
  })
}

/** Answers the close of a session in which nothing was run: ssh2 does not, and the client would wait for ever. */
export function answerClose(connection: Connection, session: Session): void {
  if (Reflect.get(session, '_channel') !== undefined) return
  const { incoming, outgoing } = Reflect.get(session, '_chanInfo') as { incoming: { id: number }; outgoing: { id: number } }
  const channels = Reflect.get(connection, '_chanMgr') as { remove(id: number): void }
  channels.remove(incoming.id)
  protocolOf(connection).channelClose(outgoing.id)
}

function protocolOf(connection: Connection): Protocol {
  return Reflect.get(connection, '_protocol') as Protocol
}
