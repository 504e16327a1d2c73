import { connect } from 'node:net'
import { closed } from './closed.ts'
import { reset } from './reset.ts'

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
      const gone = closed(socket)
      reset(socket)
      await gone
    },
  }
}
