import type { TransportName } from '../api/target.ts'
import type { Buffered } from '../channels/buffered.ts'
import type { Clock } from '../clock.ts'
import type { DialLimits } from '../limits/dial-limits.ts'
import type { Room } from '../limits/room.ts'
import type { Facts } from '../observe/facts.ts'
import type { ResolvedPoolOptions } from '../options.ts'
import type { RuntimeDirectory } from '../owners/directory/runtime-directory.ts'
import type { Ledger } from '../owners/ledger.ts'
import type { Transport } from '../transport/transport.ts'
import type { Trust } from '../trust/trust.ts'
import type { Seeker } from './eviction.ts'
import type { Hold } from './hold.ts'
import type { Losses } from './losses.ts'
import type { Naps } from './naps.ts'
import type { Tally } from './tally.ts'
import type { Tunnel } from './tunnel.ts'

/** What all tunnels of one pool share. */
export interface Parts {
  readonly options: ResolvedPoolOptions
  /** What its owner socket says to who asks. */
  readonly owner: { answer: () => string }
  readonly clock: Clock
  readonly ledger: Ledger
  readonly limits: DialLimits
  readonly room: Room<Seeker>
  readonly facts: Facts
  readonly hold: Hold
  readonly losses: Losses
  readonly naps: Naps
  readonly tally: Tally
  readonly trust: Trust
  readonly buffered: Buffered
  readonly directories: Pick<RuntimeDirectory, 'tunnelDirectory'>
  readonly transports: Readonly<Record<TransportName, Transport>>
  /** Open tunnels without a lease, the least recently used first. */
  readonly idle: Set<Tunnel>
  /** How many dials that wait for room hold a lease on a jump, by its tunnel. */
  readonly stalled: Map<Tunnel, number>
  /** Every tunnel whose actor may still run, by generation. */
  readonly tunnels: Map<number, Tunnel>
  /** The pool's one counter of openings. */
  nextGeneration(): number
  nextLease(): string
}
