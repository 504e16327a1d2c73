import { once } from 'node:events'
import { connect } from 'node:net'

/** A loopback port that is ours though nobody listens on it. */
export interface HeldPort {
  /** Resolves when the kernel has it back. */
  release(): Promise<void>
}

/**
 * Keeps a port of 127.0.0.1 on which a listener has just ended: connects are refused, and the kernel gives it to no one who asks for any free port.
 * It is held by a socket that is connected to itself. Listening on the port again works before it is released.
 */
export function holdPort(port: number): HeldPort {
  const socket = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.1', localPort: port })
  // Somebody was quicker, or the system cannot do this: then the port is merely likely to stay free.
  socket.on('error', () => {})
  return {
    async release() {
      if (socket.closed) return
      const closed = once(socket, 'close')
      if (socket.connecting) socket.destroy()
      else socket.resetAndDestroy()
      await closed
    },
  }
}
