import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import ssh2 from 'ssh2'
import { createTunnel } from 'tunnel-ssh'
import { createTunnelPool, type TransportName } from '../src/index.ts'
import type { Sshd } from '../test/support/sshd.ts'

/** One way to make a check: what it costs to be ready is not counted, what each check costs is. */
export interface Way extends AsyncDisposable {
  check(): Promise<void>
  /** Processes of the client side that live on between checks. */
  readonly pids: readonly number[]
}

export function get(agent: Agent | undefined, where: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request({ ...(agent && { agent }), ...where, path: '/health' }, (response) => {
      response.on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`HTTP ${response.statusCode}`))))
      response.resume()
    })
    asked.on('error', reject).end()
  })
}

/** An ssh of one's own with a forward on a unix socket, as a script would start it. */
async function startSsh(sshd: Sshd, port: number): Promise<{ child: ChildProcess; socketPath: string; end(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-way-'))
  const [control, socketPath] = [join(directory, 'c'), join(directory, 'u')]
  writeFileSync(join(directory, 'known'), `[127.0.0.1]:${sshd.port} ${sshd.hostKeyLine}\n`)
  const options = [
    `UserKnownHostsFile=${directory}/known`,
    'BatchMode=yes',
    'IdentitiesOnly=yes',
    'ExitOnForwardFailure=yes',
    'ControlMaster=yes',
  ]
  const words = [
    '-F',
    'none',
    '-N',
    '-S',
    control,
    '-i',
    sshd.keyPath,
    '-p',
    `${sshd.port}`,
    '-L',
    `${socketPath}:127.0.0.1:${port}`,
  ]
  const child = spawn('ssh', [...words, ...options.flatMap((each) => ['-o', each]), `${sshd.user}@127.0.0.1`], {
    stdio: 'ignore',
  })
  while (lstatSync(control, { throwIfNoEntry: false }) === undefined) {
    if (child.exitCode !== null) throw new Error(`ssh ended with ${child.exitCode}`)
    await sleep(2)
  }
  return {
    child,
    socketPath,
    end: async () => {
      child.kill('SIGTERM')
      await once(child, 'exit')
      rmSync(directory, { recursive: true })
    },
  }
}

/** What the original server did. */
export async function sshPerCheck(sshd: Sshd, port: number): Promise<Way> {
  return {
    pids: [],
    async check() {
      const ssh = await startSsh(sshd, port)
      await get(undefined, { socketPath: ssh.socketPath, headers: { connection: 'close' } })
      await ssh.end()
    },
    async [Symbol.asyncDispose]() {},
  }
}

export async function sshByHand(sshd: Sshd, port: number): Promise<Way> {
  const ssh = await startSsh(sshd, port)
  const agent = new Agent({ keepAlive: true })
  return {
    pids: [ssh.child.pid ?? 0],
    check: () => get(agent, { socketPath: ssh.socketPath }),
    async [Symbol.asyncDispose]() {
      agent.destroy()
      await ssh.end()
    },
  }
}

async function openSsh2(sshd: Sshd, key: string, isPlain: boolean): Promise<ssh2.Client> {
  const client = new ssh2.Client().on('error', () => {})
  const login = { username: sshd.user, privateKey: key, host: '127.0.0.1', port: sshd.port }
  if (isPlain) client.connect(login)
  else {
    const sock = connect({ host: '127.0.0.1', port: sshd.port, noDelay: true })
    client.connect({ ...login, sock })
  }
  await once(client, 'ready')
  return client
}

const channelTo = (client: ssh2.Client, port: number): Promise<Duplex> =>
  new Promise((resolve, reject) =>
    client.forwardOut('127.0.0.1', 0, '127.0.0.1', port, (error, channel) =>
      error === undefined ? resolve(channel) : reject(error),
    ),
  )

/** What a bare channel lacks, done by hand (facts p6). */
const asSocket = (channel: Duplex): Duplex =>
  Object.assign(channel, { setTimeout() {}, setNoDelay() {}, setKeepAlive() {}, ref() {}, unref() {} })

class ChannelAgent extends Agent {
  readonly #channel: Duplex
  constructor(channel: Duplex) {
    super({ keepAlive: true, maxSockets: 1 })
    this.#channel = asSocket(channel)
  }
  override createConnection(): Duplex {
    return this.#channel
  }
}

export async function ssh2PerCheck(sshd: Sshd, port: number, key: string): Promise<Way> {
  return {
    pids: [],
    async check() {
      const client = await openSsh2(sshd, key, true)
      await get(new ChannelAgent(await channelTo(client, port)), { headers: { connection: 'close' } })
      client.end()
      await once(client, 'close')
    },
    async [Symbol.asyncDispose]() {},
  }
}

export async function ssh2ByHand(sshd: Sshd, port: number, key: string): Promise<Way> {
  const client = await openSsh2(sshd, key, false)
  const agent = new ChannelAgent(await channelTo(client, port))
  return {
    pids: [],
    check: () => get(agent, {}),
    async [Symbol.asyncDispose]() {
      client.end()
      await once(client, 'close')
    },
  }
}

export async function byTunnelSsh(sshd: Sshd, port: number, key: string): Promise<Way> {
  const login = { username: sshd.user, privateKey: key, host: '127.0.0.1', port: sshd.port }
  const [server, client] = await createTunnel(
    { autoClose: false, reconnectOnError: false },
    { host: '127.0.0.1', port: 0 },
    login,
    { dstAddr: '127.0.0.1', dstPort: port },
  )
  const address = server.address() as { port: number }
  const agent = new Agent({ keepAlive: true })
  return {
    pids: [],
    check: () => get(agent, { port: address.port }),
    async [Symbol.asyncDispose]() {
      agent.destroy()
      server.close()
      client.end()
      await once(client, 'close')
    },
  }
}

/** A loopback request without SSH: the limit. */
export async function direct(port: number): Promise<Way> {
  const agent = new Agent({ keepAlive: true })
  return {
    pids: [],
    check: () => get(agent, { port }),
    async [Symbol.asyncDispose]() {
      agent.destroy()
    },
  }
}

export async function byPool(sshd: Sshd, port: number, transport: TransportName): Promise<Way> {
  const pool = createTunnelPool({ transport })
  const target = { ...sshd.target, hostKey: { pinned: sshd.hostKeyLine } }
  const agent = pool.agentFor(target, { port })
  await get(agent, {})
  const pids = pool
    .resources()
    .filter(({ kind }) => kind === 'child')
    .map(({ label }) => Number(/\d+/.exec(label)?.[0] ?? 0))
  return {
    pids,
    check: () => get(agent, {}),
    async [Symbol.asyncDispose]() {
      await pool.close({ timeoutMillis: 0 })
    },
  }
}
