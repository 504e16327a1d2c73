import { read } from './proc.ts'

/** A socket as the kernel's tables tell it. */
export interface SocketEntry {
  /** `tcp 127.0.0.1:8022`, with ` -> 127.0.0.1:443` when connected; `unix /run/x`. */
  readonly name: string
  readonly isListening: boolean
}

const LISTEN = '0A'
const ACCEPTS_CONNECTIONS = 0x10000

/** The kernel's TCP and unix sockets by inode; with `only`, those alone. */
export function socketTable(only: ReadonlySet<string>): Map<string, SocketEntry> {
  const table = new Map<string, SocketEntry>()
  for (const line of [...rows('/proc/net/tcp'), ...rows('/proc/net/tcp6')]) {
    const [, local = '', remote = '', state, , , , , , inode = ''] = line.trim().split(/\s+/)
    if (!only.has(inode)) continue
    const isListening = state === LISTEN
    table.set(inode, { name: `tcp ${address(local)}${isListening ? '' : ` -> ${address(remote)}`}`, isListening })
  }
  for (const line of rows('/proc/net/unix')) {
    const [, , , flags = '', , , inode = '', ...path] = line.split(/\s+/)
    if (only.has(inode))
      table.set(inode, { name: `unix ${path.join(' ')}`, isListening: (Number.parseInt(flags, 16) & ACCEPTS_CONNECTIONS) !== 0 })
  }
  return table
}

function rows(path: string): string[] {
  return read(path).split('\n').slice(1)
}

/** `0100007F:1F90`: words of four bytes in the machine's order, which is little-endian wherever Node runs but on s390x. */
function address(text: string): string {
  const [host = '', port = ''] = text.split(':')
  const words = host.match(/.{8}/g) ?? []
  const bytes = words.flatMap((word) => [...Buffer.from(word, 'hex').reverse()])
  const number = Number.parseInt(port, 16)
  if (bytes.length === 4) return `${bytes.join('.')}:${number}`
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16),
  )
  return `[${groups.join(':').replace(/(^|:)0(:0)+(:|$)/, '::')}]:${number}`
}
