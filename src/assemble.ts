import { evictor } from './actors/eviction.ts'
import { Hold } from './actors/hold.ts'
import { Losses } from './actors/losses.ts'
import { Naps } from './actors/naps.ts'
import type { Parts } from './actors/parts.ts'
import type { MachineChanges } from './actors/registry.ts'
import { Tally } from './actors/tally.ts'
import type { PoolOptions } from './api/options.ts'
import { Buffered } from './channels/buffered.ts'
import { type Clock, systemClock } from './clock.ts'
import { TunnelError } from './errors.ts'
import { lazyDirectories, lazyOpenssh, lazySsh2, lazyTrust } from './lazy.ts'
import { DialLimits } from './limits/dial-limits.ts'
import { Room } from './limits/room.ts'
import { Facts } from './observe/facts.ts'
import { resolvePoolOptions } from './options.ts'
import { Ledger } from './owners/ledger.ts'
import { Scope } from './owners/scope.ts'
import type { Transport } from './transport/transport.ts'

/** What a test may put in the place of our own. */
export interface Replacements {
  readonly clock?: Clock
  readonly transport?: Transport
  readonly machines?: MachineChanges
}

/** A pool's parts, and the scope of what belongs to the pool itself. */
export interface Assembly {
  readonly parts: Parts
  readonly scope: Scope
}

function counter(): () => number {
  let last = 0
  return () => {
    last += 1
    return last
  }
}

/** Checks the options and makes the parts of a pool; opens nothing. */
export function assemble(given: PoolOptions | undefined, { clock = systemClock, transport }: Replacements): Assembly {
  if (process.platform === 'win32') throw new TunnelError('ERR_UNSUPPORTED', 'Windows is not supported: run under WSL')
  const options = resolvePoolOptions(given)
  const ledger = new Ledger()
  const scope = new Scope(ledger, 'pool')
  const room: Parts['room'] = new Room(options.maxTunnels)
  const idle: Parts['idle'] = new Set()
  const stalled: Parts['stalled'] = new Map()
  room.evict = evictor({ idle, stalled })
  const nextLease = counter()
  const owner = { answer: () => '' }
  const parts: Parts = {
    owner,
    options,
    clock,
    ledger,
    limits: new DialLimits(options),
    room,
    facts: new Facts(options.logger),
    hold: new Hold(),
    losses: new Losses(clock),
    naps: new Naps(clock, 2 * options.keepAliveIntervalMillis),
    tally: new Tally(),
    trust: lazyTrust(),
    buffered: new Buffered(options.maxBufferedBytes),
    directories: lazyDirectories({ base: options.runtimeDirectory, scope, clock, answer: () => owner.answer() }),
    transports: { ssh2: transport ?? lazySsh2, openssh: transport ?? lazyOpenssh({ sshPath: options.sshPath }) },
    idle,
    stalled,
    tunnels: new Map(),
    nextGeneration: counter(),
    nextLease: () => `lease-${nextLease()}`,
  }
  return { parts, scope }
}
