import type { Client } from 'ssh2'

/** ssh2 signs with SHA-1 for an RSA key when the server names no algorithms; this flag makes it assume rsa-sha2 (lib/protocol/constants.js). */
const IMPLY_RSA_SHA2 = 1 << 4

/** One channel as ssh2's manager of channels knows it. */
export interface InnerChannel {
  incoming: { window: number }
  outgoing: { id: number; state: string }
  readableLength: number
  stderr: { readableLength: number }
  resume(): void
  close(): void
}

/** Called for one kind of message of the server. */
export type Handler = (protocol: unknown, ...args: never[]) => void

/** The protocol half of a client. */
export interface InnerProtocol {
  _handlers: Record<string, Handler | undefined>
  _compatFlags: number
  _strictMode: boolean | undefined
  /** Unset once it has ended. */
  _destruct: unknown
  parse(chunk: Buffer, start: number, end: number): void
  signal(channel: number, name: string): void
}

interface Insides {
  _protocol: InnerProtocol
  _chanMgr: { _cur: number; get(id: number): InnerChannel | (() => void) | undefined }
}

/** What ssh2 keeps to itself and offers no other way to; a test fails when a version of it moves them. */
export const insidesOf = (client: Client): Insides => client as unknown as Insides

/** Whether both sides keep strict key exchange, which closes Terrapin. */
export const isStrictKex = (client: Client): boolean => insidesOf(client)._protocol._strictMode === true

/** Makes an RSA key sign with SHA-2 only. */
export const forbidSha1 = (client: Client): void => {
  insidesOf(client)._protocol._compatFlags |= IMPLY_RSA_SHA2
}
