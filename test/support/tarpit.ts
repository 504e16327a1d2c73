import { Door } from '../../src/testing/door.ts'
import { Sockets } from '../../src/testing/sockets.ts'

/** TARPIT of the fault catalogue: accepts TCP, reads, and never writes. */
export interface Tarpit extends AsyncDisposable {
  readonly host: string
  readonly port: number
  /** Accepted since the start. */
  readonly connections: number
  close(): Promise<void>
}

/** Listens on a free port of 127.0.0.1. */
export async function startTarpit(): Promise<Tarpit> {
  const sockets = new Sockets()
  let connections = 0
  const door = await Door.open((socket) => {
    connections += 1
    sockets.add(socket).resume()
    socket.on('end', () => socket.destroy())
  })
  const close = async (): Promise<void> => void (await Promise.all([door.close(), sockets.close()]))
  return {
    host: '127.0.0.1',
    port: door.port,
    get connections() {
      return connections
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
