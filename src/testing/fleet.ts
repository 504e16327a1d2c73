import type { Target } from '../api/target.ts'
import { TunnelError } from '../errors.ts'
import type { Fleet, FleetHost } from './contract.ts'
import { Host } from './host.ts'

class HostFleet implements Fleet {
  readonly hosts: readonly Host[]

  constructor(hosts: readonly Host[]) {
    this.hosts = hosts
  }

  get targets(): readonly Target[] {
    return this.hosts.map((host) => host.target)
  }

  async close(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.close()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

/**
 * Starts SSH hosts in this process, each on a free port of 127.0.0.1 with a host key of its own, all open to one key that exists only in memory.
 * They forward to loopback only and run no processes; `await using`, or `close`, frees all they hold.
 *
 * @param options.hosts how many; default 1
 * @param options.behind the hosts' targets jump over this host of another fleet
 * @throws {TunnelError} `ERR_INVALID_OPTION`
 * @example
 * await using fleet = await startFleet({ hosts: 3 })
 * await using lease = await pool.acquire(fleet.hosts[0].target)
 * fleet.hosts[0].freeze()
 */
export async function startFleet(options: { hosts?: number | undefined; behind?: FleetHost | undefined } = {}): Promise<Fleet> {
  const { hosts: count = 1, behind } = options
  if (!Number.isSafeInteger(count) || count < 0)
    throw new TunnelError('ERR_INVALID_OPTION', `hosts must be a whole number, got ${String(count)}`)
  const starts = Array.from({ length: count }, (_, index) => Host.start({ label: `fleet-${index + 1}`, behind }))
  const outcomes = await Promise.allSettled(starts)
  const fleet = new HostFleet(outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed === undefined) return fleet
  await fleet.close()
  throw failed.reason
}
