import { listenDynamically } from '../../channels/dynamic-forward.ts'
import type { Ground, Listening } from '../../channels/ground.ts'
import { listenLocally } from '../../channels/local-forward.ts'
import type { ResolvedForward } from '../../options/forward.ts'
import type { Scope } from '../../owners/scope.ts'
import type { Parts } from '../parts.ts'
import type { Supply } from './supply.ts'

/** What an endpoint of the pool's own listens with. */
export interface PoolGround {
  readonly parts: Parts
  /** The pool's. */
  readonly scope: Scope
  readonly supply: Supply
  readonly label: string
  readonly refused: Ground['refused']
}

/** Listens on our side for as long as the pool, with a private directory of its own for a path of ours. */
export function listenOnPool(
  spec: Exclude<ResolvedForward, { kind: 'reverse' }>,
  { parts, scope, supply, label, refused }: PoolGround,
): Promise<Listening> {
  const ground: Ground = {
    scope,
    clock: parts.clock,
    channelTimeoutMillis: parts.options.channelTimeoutMillis,
    openChannel: (to, client) => supply.openChannel(to, client),
    freshPath: async () => {
      const directory = await parts.directories.tunnelDirectory(scope, `${label}, standing`)
      return { path: directory.claim(), free: () => directory.remove() }
    },
    refused,
  }
  return spec.kind === 'local' ? listenLocally(spec, ground) : listenDynamically(spec, ground)
}
