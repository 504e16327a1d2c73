import { string, uint32, WireReader } from '../wire.ts'

/** Messages of SSH's connection layer (RFC 4254, section 9), as a master in proxy mode takes and gives them: `uint32 length, byte 0, byte type, …`. */
export const MESSAGE = {
  open: 90,
  openConfirmation: 91,
  openFailure: 92,
  windowAdjust: 93,
  data: 94,
  extendedData: 95,
  eof: 96,
  close: 97,
  request: 98,
  success: 99,
  failure: 100,
} as const

/** As OpenSSH bounds a packet (PACKET_MAX_SIZE). */
export const LONGEST_PACKET = 256 * 1024 + 1024
/** What we let the other side send at once, as every SSH server can (RFC 4253, section 6.1). */
export const MAX_PACKET_BYTES = 32 * 1024
/** What the other side may send before we have read it. */
export const WINDOW_BYTES = 2 * 1024 * 1024
/** Stderr, the one kind of extended data there is (RFC 4254, section 5.2). */
export const STDERR = 1

const framed = (type: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat([Buffer.of(0, type), ...parts])
  return string(body)
}
const boolean = (value: boolean) => Buffer.of(value ? 1 : 0)

/** What a channel is opened to. */
export type ChannelKind =
  | { readonly type: 'session' }
  | { readonly type: 'direct-tcpip'; readonly host: string; readonly port: number }
  | { readonly type: 'direct-streamlocal@openssh.com'; readonly path: string }

function detailsOf(kind: ChannelKind): Buffer[] {
  switch (kind.type) {
    case 'session':
      return []
    case 'direct-tcpip':
      return [string(kind.host), uint32(kind.port), string('127.0.0.1'), uint32(0)]
    case 'direct-streamlocal@openssh.com':
      // PROTOCOL, section 2.4: the path, and two fields kept for later.
      return [string(kind.path), string(''), uint32(0)]
  }
}

export const openMessage = (kind: ChannelKind, id: number, window: number): Buffer =>
  framed(MESSAGE.open, string(kind.type), uint32(id), uint32(window), uint32(MAX_PACKET_BYTES), ...detailsOf(kind))

export const adjustMessage = (id: number, bytes: number): Buffer => framed(MESSAGE.windowAdjust, uint32(id), uint32(bytes))
export const eofMessage = (id: number): Buffer => framed(MESSAGE.eof, uint32(id))
export const closeMessage = (id: number): Buffer => framed(MESSAGE.close, uint32(id))
export const failureMessage = (id: number): Buffer => framed(MESSAGE.failure, uint32(id))

/** What stands before the bytes of data, so that these need not be copied. */
export function dataHead(id: number, bytes: number): Buffer {
  const head = Buffer.allocUnsafe(14)
  head.writeUInt32BE(2 + 8 + bytes, 0)
  head[4] = 0
  head[5] = MESSAGE.data
  head.writeUInt32BE(id, 6)
  head.writeUInt32BE(bytes, 10)
  return head
}

/** A request on a channel (RFC 4254, section 5.4), whose details follow its name and whether an answer is wanted. */
export function requestMessage(id: number, name: string, wantsReply: boolean, details: readonly Buffer[] = []): Buffer {
  return framed(MESSAGE.request, uint32(id), string(name), boolean(wantsReply), ...details)
}

/** Data, error output, or a kind of extended data that nobody knows, which counts against the window like any other. */
export type DataKind = 'output' | 'error' | 'unknown'

/** What has come in, read as far as its type goes. */
export type Inbound =
  | {
      readonly type: 'confirmation'
      readonly id: number
      readonly sender: number
      readonly window: number
      readonly maxPacket: number
    }
  | { readonly type: 'open-failure'; readonly id: number; readonly reason: number; readonly text: string }
  | { readonly type: 'adjust'; readonly id: number; readonly bytes: number }
  | { readonly type: 'data'; readonly id: number; readonly data: Buffer; readonly kind: DataKind }
  | { readonly type: 'eof' | 'close' | 'success' | 'failure'; readonly id: number }
  | {
      readonly type: 'request'
      readonly id: number
      readonly name: string
      readonly wantsReply: boolean
      readonly details: WireReader
    }
  | { readonly type: 'open'; readonly kind: string }

const SIMPLE: Readonly<Record<number, 'eof' | 'close' | 'success' | 'failure'>> = {
  [MESSAGE.eof]: 'eof',
  [MESSAGE.close]: 'close',
  [MESSAGE.success]: 'success',
  [MESSAGE.failure]: 'failure',
}

/** Reads one frame; `undefined` for one that is cut short or is no message on a channel: a master hands on no other. */
export function readMessage(frame: Buffer): Inbound | undefined {
  if (frame.length < 2) return undefined
  const type = frame[1] ?? 0
  const reader = new WireReader(frame.subarray(2))
  if (type === MESSAGE.open) {
    const kind = reader.text()
    return kind === undefined ? undefined : { type: 'open', kind }
  }
  const id = reader.uint32()
  return id === undefined ? undefined : readOnChannel(type, id, reader)
}

function readOnChannel(type: number, id: number, reader: WireReader): Inbound | undefined {
  const simple = SIMPLE[type]
  if (simple !== undefined) return { type: simple, id }
  switch (type) {
    case MESSAGE.data: {
      const data = reader.string()
      return data && { type: 'data', id, data, kind: 'output' }
    }
    case MESSAGE.extendedData: {
      const [kind, data] = [reader.uint32(), reader.string()]
      return data && { type: 'data', id, data, kind: kind === STDERR ? 'error' : 'unknown' }
    }
    case MESSAGE.windowAdjust: {
      const bytes = reader.uint32()
      return bytes === undefined ? undefined : { type: 'adjust', id, bytes }
    }
    case MESSAGE.openConfirmation: {
      const [sender, window, maxPacket] = [reader.uint32(), reader.uint32(), reader.uint32()]
      return sender === undefined || window === undefined || maxPacket === undefined
        ? undefined
        : { type: 'confirmation', id, sender, window, maxPacket }
    }
    case MESSAGE.openFailure: {
      const [reason, text] = [reader.uint32(), reader.text()]
      return reason === undefined || text === undefined ? undefined : { type: 'open-failure', id, reason, text }
    }
    case MESSAGE.request: {
      const [name, wantsReply] = [reader.text(), reader.byte()]
      return name === undefined || wantsReply === undefined
        ? undefined
        : { type: 'request', id, name, wantsReply: wantsReply !== 0, details: reader }
    }
    default:
      return undefined
  }
}
