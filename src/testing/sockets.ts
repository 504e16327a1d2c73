import { once } from 'node:events'
import type { Socket } from 'node:net'

/** Sockets of one owner, until the kernel has taken them back. */
export class Sockets {
  readonly #open = new Set<Socket>()

  get size(): number {
    return this.#open.size
  }

  add(socket: Socket): Socket {
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    // What went wrong is told by those who care; unheard it would end the process.
    socket.on('error', () => {})
    return socket
  }

  async close(): Promise<void> {
    const closed = [...this.#open].map((socket) => once(socket, 'close'))
    for (const socket of this.#open) socket.destroy()
    await Promise.all(closed)
  }
}
