import type { Lease, PoolOptions, Target, TransportName, TunnelPool } from '../../../src/index.ts'
import { startPool } from '../../support/pool.ts'
import { type Relay, startRelay } from '../../support/relay.ts'
import { type Sshd, type SshdOptions, startSshd } from '../../support/sshd.ts'
import { echo, startTcpServer, type TcpServer } from '../../support/tcp-server.ts'

export const TRANSPORTS: readonly TransportName[] = ['ssh2', 'openssh']

/** What every case stands on: one sshd for a file, and a pool of the transport for each case. */
export class World {
  readonly transport: TransportName
  sshd!: Sshd
  server!: TcpServer
  pool!: TunnelPool
  lease!: Lease
  readonly #started: AsyncDisposable[] = []

  constructor(transport: TransportName) {
    this.transport = transport
  }

  /** Channels in the ledger. */
  get channels(): number {
    return this.pool.resources().filter(({ kind }) => kind === 'channel').length
  }

  /** A pool of this transport. */
  startPool(options: PoolOptions = {}): TunnelPool {
    return startPool({ transport: this.transport, ...options })
  }

  /** A relay before the sshd, and a lease through it; both end with the case. */
  async behindRelay(
    options: PoolOptions = {},
    more: Partial<Target> = {},
  ): Promise<{ relay: Relay; pool: TunnelPool; lease: Lease }> {
    const relay = await startRelay(this.sshd)
    this.#started.push(relay)
    const pool = this.startPool(options)
    this.#started.push(pool)
    const lease = await pool.acquire({ ...relay.through(this.sshd.target), ...more })
    return { relay, pool, lease }
  }

  /** Another server, which ends with the case. */
  async serve(serve: (socket: import('node:net').Socket) => void): Promise<TcpServer> {
    const server = await startTcpServer(serve)
    this.#started.push(server)
    return server
  }

  /** To be called by the hooks of a suite. */
  async endCase(): Promise<void> {
    this.lease.release()
    for (const started of this.#started.splice(0).reverse()) await started[Symbol.asyncDispose]()
    await this.pool.close()
  }
}

/** Runs one list of cases for each transport. */
export function onBoth(what: string, cases: (world: World) => void, options: SshdOptions = {}): void {
  for (const transport of TRANSPORTS) {
    describe(`${transport}: ${what}`, () => {
      const world = new World(transport)
      before(async () => {
        world.sshd = await startSshd(options)
        world.server = await startTcpServer(echo)
      })
      after(async () => {
        await world.server[Symbol.asyncDispose]()
        await world.sshd.close()
      })
      beforeEach(async () => {
        world.pool = world.startPool()
        world.lease = await world.pool.acquire(world.sshd.target)
      })
      afterEach(() => world.endCase())
      cases(world)
    })
  }
}
