import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Sockets } from '../../src/testing/sockets.ts'
import { exited, spawnFixture } from './child.ts'

/** Addresses that swallow SYN: connects to them hang, as to a host that is switched off. */
export interface SynHole extends AsyncDisposable {
  readonly addresses: readonly string[]
  readonly port: number
  close(): Promise<void>
}

/** With backlog 1 the kernel completes two connections; of a process that is stopped nobody takes them, and it drops what comes after. */
const QUEUE = 2
const START_MILLIS = 5_000
const LISTEN = `
const [, ...hosts] = process.argv
const listen = (port, left) => {
  const [host, ...rest] = left
  if (host === undefined) {
    require('node:fs').writeSync(1, port + '\\n')
    process.kill(process.pid, 'SIGSTOP')
    return
  }
  const server = require('node:net').createServer()
  server.listen({ host, port, backlog: 1 }, () => listen(server.address().port, rest))
}
listen(0, hosts)
`

/** Makes `hosts` (1) such addresses in 127/8, on one port: listeners with a full queue, in a process that is stopped. */
export async function startSynHole(options: { hosts?: number } = {}): Promise<SynHole> {
  const addresses = someAddresses(options.hosts ?? 1)
  const child = spawnFixture(process.execPath, ['-e', LISTEN, ...addresses], ['ignore', 'pipe', 'inherit'])
  const sockets = new Sockets()
  const close = async (): Promise<void> => {
    child.kill('SIGKILL')
    child.stdout?.destroy()
    await Promise.all([exited(child), sockets.close()])
  }
  try {
    const port = await firstLine(child.stdout as Socket, exited(child))
    const fillers = addresses.flatMap((host) => Array.from({ length: QUEUE }, () => sockets.add(connect({ host, port }))))
    await Promise.all(fillers.map((socket) => once(socket, 'connect')))
    return { addresses, port, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

async function firstLine(stdout: Socket, gone: Promise<void>): Promise<number> {
  const failed = gone.then(() => Promise.reject(new Error('the process that was to listen has ended')))
  const [line] = await Promise.race([once(stdout, 'data', { signal: AbortSignal.timeout(START_MILLIS) }), failed])
  return Number(line)
}

/** Random, so that test processes beside this one do not meet it. */
function someAddresses(count: number): string[] {
  const [b, c] = [16 + Math.floor(Math.random() * 200), Math.floor(Math.random() * 250)]
  return Array.from({ length: count }, (_, index) => `127.${b}.${(c + Math.floor(index / 250)) % 256}.${1 + (index % 250)}`)
}
