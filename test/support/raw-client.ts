import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import ssh2, { type Client, type ClientChannel, type ConnectConfig } from 'ssh2'
import type { Target } from '../../src/api/target.ts'
import { closed } from '../../src/testing/closed.ts'

/** A login by ssh2 alone, to observe a server with. Disposing of it destroys the socket. */
export class RawClient implements AsyncDisposable {
  readonly client: Client
  readonly socket: Socket
  /** What ssh2 has complained about. */
  readonly errors: Error[]

  private constructor(client: Client, socket: Socket, errors: Error[]) {
    this.client = client
    this.socket = socket
    this.errors = errors
  }

  /** Logs in by the target's first identity, which must be a key, and its first pin. Rejects with ssh2's first error. */
  static async connect(target: Target, config: ConnectConfig = {}): Promise<RawClient> {
    const socket = connect({ host: target.host, port: target.port ?? 22, noDelay: true })
    const client = new ssh2.Client()
    const errors: Error[] = []
    client.on('error', (error) => errors.push(error))
    client.connect({
      sock: socket,
      username: target.user,
      privateKey: keyOf(target),
      hostVerifier: (key: Buffer) => isPinned(target, key),
      ...config,
    })
    try {
      await once(client, 'ready')
      return new RawClient(client, socket, errors)
    } catch (error) {
      socket.destroy()
      throw error
    }
  }

  /** A direct-tcpip channel; rejects with the server's reason and text. */
  channel(port: number, host = '127.0.0.1'): Promise<ClientChannel> {
    return new Promise((resolve, reject) => {
      this.client.forwardOut('127.0.0.1', 0, host, port, (error, channel) => (error ? reject(error) : resolve(channel)))
    })
  }

  /** A direct-streamlocal channel. */
  socketChannel(socketPath: string): Promise<ClientChannel> {
    return new Promise((resolve, reject) => {
      this.client.openssh_forwardOutStreamLocal(socketPath, (error, channel) => (error ? reject(error) : resolve(channel)))
    })
  }

  async exec(
    command: string,
    input = '',
  ): Promise<{ stdout: string; stderr: string; code: number | null; signal: string | undefined }> {
    const channel = await this.session(command)
    const [stdout, stderr] = [collected(channel), collected(channel.stderr)]
    const closed = once(channel, 'close')
    channel.end(input)
    const [code, signal] = await closed
    return { stdout: (await stdout).toString(), stderr: (await stderr).toString(), code, signal }
  }

  /** A session channel that runs a command. */
  session(command: string): Promise<ClientChannel> {
    return new Promise((resolve, reject) => {
      this.client.exec(command, (error, channel) => (error ? reject(error) : resolve(channel)))
    })
  }

  /** A global request the server must answer; resolves whatever the answer is. */
  roundTrip(): Promise<void> {
    return new Promise((resolve) => this.client.unforwardIn('127.0.0.1', 0, () => resolve()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.socket.closed) return
    const gone = closed(this.socket)
    this.socket.destroy()
    await gone
  }
}

/** All bytes of a stream, once it has ended. */
export function collected(stream: NodeJS.ReadableStream): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    stream.on('data', (bytes: Buffer) => parts.push(bytes))
    stream.on('end', () => resolve(Buffer.concat(parts)))
    stream.on('error', reject)
  })
}

function keyOf(target: Target): Buffer {
  const [identity] = [target.identity].flat()
  if (typeof identity === 'object' && 'key' in identity) return Buffer.from(identity.key)
  if (typeof identity === 'object' && 'path' in identity) return readFileSync(identity.path)
  throw new Error('the observer needs a key')
}

function isPinned({ hostKey }: Target, key: Buffer): boolean {
  const digest = createHash('sha256').update(key).digest('base64').replace(/=+$/, '')
  return typeof hostKey === 'object' && 'pinned' in hostKey && [hostKey.pinned].flat().includes(`SHA256:${digest}`)
}
