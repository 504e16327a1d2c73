import type { Socket } from 'node:net'
import { closed } from './closed.ts'

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
    const all = [...this.#open].map(closed)
    for (const socket of this.#open) socket.destroy()
    await Promise.all(all)
  }
}
