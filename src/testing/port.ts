import { connect } from 'node:net'
import { closed } from './closed.ts'
import { reset } from './reset.ts'

/** A loopback port that is ours though nobody listens on it. */
export interface HeldPort {
  /** Resolves when the kernel has it back. */
  release(): Promise<void>
}

/** Node's own handle of a TCP socket, which alone can be bound and neither listen nor connect. */
interface Handle {
  bind(address: string, port: number): number
  close(done: () => void): void
}
interface Binding {
  readonly TCP: new (type: number) => Handle
  readonly constants: { readonly SOCKET: number }
}

/**
 * Keeps a port of 127.0.0.1 on which a listener has just ended: connects are refused, and the kernel gives it to no one who asks for any free port.
 * Listening on the port again works before it is released.
 */
export function holdPort(port: number): HeldPort {
  return boundTo(port) ?? connectedToItself(port)
}

/** At once: in the time until the next turn of the loop another process may have asked the kernel for a port. */
function boundTo(port: number): HeldPort | undefined {
  const { binding } = process as unknown as { binding?: (name: string) => Binding }
  if (binding === undefined) return undefined
  const { TCP, constants } = binding.call(process, 'tcp_wrap')
  const handle = new TCP(constants.SOCKET)
  const failed = handle.bind('127.0.0.1', port) !== 0
  const gone = () => new Promise<void>((resolve) => handle.close(resolve))
  if (!failed) return { release: gone }
  void gone()
  return undefined
}

/** Where Node does not lend its handles. */
function connectedToItself(port: number): HeldPort {
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
