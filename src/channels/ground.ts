import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Remote, TcpAddress, UnixAddress } from '../api/forward.ts'
import type { Clock } from '../clock.ts'
import type { TunnelError } from '../errors.ts'
import type { Scope } from '../owners/scope.ts'
import type { Connection } from '../transport/transport.ts'

/** A path in a private directory that nobody else uses. */
export interface FreshPath {
  readonly path: string
  /** Whatever stands there goes, and its directory forgets it. */
  free(): void
}

/** What a listener of ours stands on: a tunnel, or a destination across its tunnels. */
export interface Ground {
  readonly scope: Scope
  readonly clock: Clock
  readonly channelTimeoutMillis: number
  /** A fresh path for a socket in a private directory, which is made for the first of them. */
  readonly freshPath: () => Promise<FreshPath>
  /** A stream through the server for a client that has come in, who may be gone before there is one. Bounded; rejects with a TunnelError. */
  readonly openChannel: (to: Remote, client: Socket) => Promise<Duplex>
  /** A connection could not be served. */
  readonly refused: (to: Remote, error: TunnelError) => void
}

/** One tunnel: the server can listen, too. */
export interface TunnelGround extends Ground {
  readonly connection: Connection
}

/** A forward that listens. */
export interface Listening {
  readonly address: UnixAddress | TcpAddress
  /** Stops listening; connections it carries go on. Resolves when nobody listens there any more; never rejects. */
  close(): Promise<void>
  /** Resolves when it carries nothing that its tunnel must stay for. */
  idle(): Promise<void>
}
