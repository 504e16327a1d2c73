import type { Client } from 'ssh2'

/** ssh2 signs with SHA-1 for an RSA key when the server names no algorithms; this flag makes it assume rsa-sha2 (lib/protocol/constants.js). */
const IMPLY_RSA_SHA2 = 1 << 4

/** One channel as ssh2's manager of channels knows it. */
export interface InnerChannel {
  type: string
  incoming: { window: number; state: string }
  outgoing: { id: number; state: string }
  readableLength: number
  stderr: { readableLength: number; resume(): void }
  once(event: 'close', listener: () => void): void
  resume(): void
  close(): void
}

/** What waits for the answer to a channel open. */
export interface Opening {
  (error: Error | undefined, channel: InnerChannel): void
  type: string
}

/** Called for one kind of message of the server. */
export type Handler = (protocol: unknown, ...args: never[]) => void

/** The protocol half of a client. */
export interface InnerProtocol {
  _handlers: Record<string, Handler | undefined>
  _compatFlags: number
  _strictMode: boolean | undefined
  _authenticated: boolean
  /** Set while keys are exchanged. */
  _kexinit: unknown
  /** Unset once it has ended. */
  _destruct: unknown
  parse(chunk: Buffer, start: number, end: number): void
  signal(channel: number, name: string): void
}

interface Insides {
  _protocol: InnerProtocol
  _chanMgr: {
    /** The number that was given out last. */
    _cur: number
    get(id: number): InnerChannel | Opening | undefined
    update(id: number, opening: Opening): void
  }
}

/** What ssh2 keeps to itself and offers no other way to; a test fails when a version of it moves them. */
export const insidesOf = (client: Client): Insides => client as unknown as Insides

/** Whether both sides keep strict key exchange, which closes Terrapin. */
export const isStrictKex = (client: Client): boolean => insidesOf(client)._protocol._strictMode === true

/** Makes an RSA key sign with SHA-2 only. */
export const forbidSha1 = (client: Client): void => {
  insidesOf(client)._protocol._compatFlags |= IMPLY_RSA_SHA2
}

/** The number of the channel that was asked for last. */
export const lastAsked = (client: Client): number => insidesOf(client)._chanMgr._cur

/**
 * Gives up a channel that was asked for and has no owner: it is closed, now or when its open is answered, and nothing is run in it. ssh2 alone
 * leaves open one whose command the server refuses, and runs the command of one that opens too late. `gone` is called when it is closed.
 */
export function abandonChannel(client: Client, id: number, gone: () => void): void {
  const { _chanMgr: channels } = insidesOf(client)
  const found = channels.get(id)
  const close = (channel: InnerChannel) => {
    channel.once('close', gone)
    channel.resume()
    channel.stderr.resume()
    channel.close()
  }
  if (found === undefined) gone()
  else if (typeof found === 'object') {
    // Its command was sent, and may run.
    if (found.type === 'session') signalSession(client, found, 'HUP')
    close(found)
  } else {
    const late = (error: Error | undefined, channel: InnerChannel) => (error === undefined ? close(channel) : gone())
    channels.update(id, Object.assign(late, { type: found.type }))
  }
}

/** Sends a signal to what runs in a session; also after our end of data, when ssh2 would not. */
export function signalSession(client: Client, channel: object, name: string): void {
  const { outgoing } = channel as InnerChannel
  if (outgoing.state === 'open' || outgoing.state === 'eof') insidesOf(client)._protocol.signal(outgoing.id, name)
}
