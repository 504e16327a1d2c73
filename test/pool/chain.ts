import assert from 'node:assert/strict'
import type { Jump, Target } from '../../src/api/target.ts'
import { type Fleet, type FleetHost, startFleet } from '../../src/testing/index.ts'

/** What is true of one is true of the other. */
export const TRANSPORTS = ['ssh2', 'openssh'] as const

/** Hosts behind hosts. */
export interface Chain extends AsyncDisposable {
  /** Outermost first. */
  readonly hops: readonly FleetHost[]
  /** `user@host:port` of each hop. */
  readonly names: readonly string[]
  readonly hosts: readonly FleetHost[]
  readonly targets: readonly Target[]
}

/** `user@host:port`, as errors name a hop. */
export const nameOf = ({ user, host, port }: Target): string => `${user}@${host}:${port}`

/** The one host of a fleet of one. */
export function only(fleet: Fleet): FleetHost {
  const [host] = fleet.hosts
  assert.ok(host)
  return host
}

/** So many hosts behind so many hops. */
export async function startChain({ hosts = 1, hops = 1 }: { hosts?: number; hops?: number } = {}): Promise<Chain> {
  const fleets: Fleet[] = []
  const close = async () => void (await Promise.all(fleets.map((fleet) => fleet.close())))
  try {
    for (let hop = 0; hop < hops; hop += 1) fleets.push(await startFleet({ behind: fleets.at(-1)?.hosts[0] }))
    const last = await startFleet({ hosts, behind: fleets.at(-1)?.hosts[0] })
    const jumps = fleets.map(only)
    fleets.push(last)
    return {
      hops: jumps,
      names: jumps.map(({ target }) => nameOf(target)),
      hosts: last.hosts,
      targets: last.targets,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** A target's way in, as a jump of others. */
export const jumpOver = ({ host, port, user, identity, hostKey }: Target): Jump => ({ host, port, user, identity, hostKey })
