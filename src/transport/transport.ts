import type { Duplex } from 'node:stream'
import type { Remote, TcpAddress, UnixAddress } from '../api/forward.ts'
import type { ExecResult } from '../api/lease.ts'
import type { TransportName } from '../api/target.ts'
import type { Buffered } from '../channels/buffered.ts'
import type { Clock } from '../clock.ts'
import type { TunnelError } from '../errors.ts'
import type { OwnedDirectory } from '../owners/directory/directory.ts'
import type { Scope } from '../owners/scope.ts'
import type { ResolvedTarget } from '../target.ts'
import type { Trust } from '../trust/trust.ts'

/** What a dial is busy with, in this order; the times between are published as `phases`. */
export type Phase = 'dns' | 'connect' | 'banner' | 'kex' | 'hostkey' | 'auth' | 'open'

/** The last hop on the way to a host, an open tunnel of the pool, leased for as long as the tunnel through it lives. */
export interface Hop {
  /** `user@host:port` */
  readonly name: string
  /** Control socket through which another ssh can reach further hosts; openssh only. */
  readonly controlPath: string | undefined
  /**
   * A stream through it to a host, for whoever asks to own. When the hop is lost it fails with an error that names the hop.
   * Rejects as `openChannel` does, unbounded but for the signal.
   */
  open(to: { host: string; port: number }, signal: AbortSignal): Promise<Duplex>
  /** Asks it whether it is still there: why not, or `undefined` when it is, or does not say within a second. Never rejects. */
  verdict(): Promise<TunnelError | undefined>
}

/** Everything a transport is given for one opening. */
export interface Dial {
  readonly target: ResolvedTarget
  /** Owns whatever the dial makes, from before it exists; what arrives after `signal` aborted is freed by it. */
  readonly scope: Scope
  /** The last hop; `undefined`: the host is reached directly. When it is lost the dial is aborted. */
  readonly jump: Hop | undefined
  /** The tunnel's private directory (0700), made when first asked for, removed with the scope. */
  readonly directory: () => Promise<OwnedDirectory>
  /** Ends the dial; its reason is a TunnelError. Deadlines are the caller's. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly trust: Trust
  /** Said when a phase begins. */
  readonly enter: (phase: Phase) => void
  /** At the banner: waits until CPU may be spent on key exchange and login, and gives up the place among the connecting. */
  readonly admit: () => Promise<void>
  /** The pool's bound on bytes that lie unread in all channels. */
  readonly buffered: Buffered
  /** Hold one idle session, so that the server sends without delay on new channels. */
  readonly holdSession: boolean
  /** Longest wait for the server to start a command. */
  readonly channelTimeoutMillis: number
}

/** How to dial. `ssh2` works in this process, `openssh` by a child. */
export interface Transport {
  readonly name: TransportName
  /** Whether a dial needs a private directory of its own. */
  readonly needsDirectory: boolean
  /** Opens one connection, or rejects with a TunnelError that names the phase; what it made is in the scope either way. */
  dial(dial: Dial): Promise<Connection>
}

/** Bounds of one call; past them it rejects and whatever comes late is closed. */
export interface Bounds {
  readonly signal: AbortSignal | undefined
  readonly timeoutMillis: number
}

/** How a channel is opened. */
export interface Opening extends Bounds {
  /** It carries the connection of another tunnel. What lies unread in it is bounded by its window, and must not hold the other tunnels behind the same jump. */
  readonly isCarrier?: boolean | undefined
}

/** What to run and how much of its output to keep. */
export interface Run extends Bounds {
  readonly input: string | Uint8Array | undefined
  readonly maxOutputBytes: number
}

/** A connection that came in at the server's listener and waits to be taken. */
export interface Arrival {
  /** Takes it: a stream like one of `openChannel`. Call it once, before `reject`. */
  accept(): Duplex
  /** Refuses it, so that whoever connected sees a failure and not an end of data. */
  reject(): void
}

/** Where the server listens for us. */
export interface ReverseListener {
  /** As the server told it: its port, if 0 was asked for. */
  readonly address: TcpAddress | UnixAddress
  /** Asks the server to listen no longer; what was accepted goes on. Resolves also when the connection is gone. */
  close(bounds: Bounds): Promise<void>
}

/** One SSH connection that is up. All that stands on a tunnel (sockets, listeners, agents) needs no more than this. */
export interface Connection {
  /** Address and port of the other end, as the kernel says. */
  readonly remoteAddress: string | undefined
  /** Why it is gone; `undefined` while it lives. Set before anything else can tell. */
  readonly error: TunnelError | undefined
  /** Monotonic time of the last bytes from the server. */
  readonly provenAt: number
  /** Calls back once, when the connection is gone for whatever reason. */
  onLost(listener: (error: TunnelError) => void): void
  /** Calls back once, when it should be succeeded: it works, and will not for ever. */
  onWorn(listener: () => void): void
  /**
   * A stream through the server, paused, half-open capable, held in the connection's scope. When the connection is lost it fails with the
   * loss as its error; it never ends as if all had been read.
   * Rejects with `ERR_CHANNEL_REFUSED`, `ERR_PROHIBITED` (the server's reason), `ERR_CHANNEL_TIMEOUT`, `ERR_ABORTED` or `ERR_LOST`.
   */
  openChannel(to: Remote, opening: Opening): Promise<Duplex>
  /**
   * Has the server listen, and calls back for each connection that comes in there. It ends with the connection.
   * Rejects with `ERR_FORWARD_FAILED`, `ERR_PROHIBITED`, `ERR_CHANNEL_TIMEOUT`, `ERR_ABORTED` or `ERR_LOST`.
   */
  requestReverse(remote: Remote, arrived: (arrival: Arrival) => void, bounds: Bounds): Promise<ReverseListener>
  /** Control socket through which another ssh can reach further hosts; openssh only. */
  readonly controlPath: string | undefined
  /** Runs a command; any exit status resolves. */
  exec(command: string, run: Run): Promise<ExecResult>
  /** A round trip through the server; rejects when none came in time. */
  probe(bounds: Bounds): Promise<void>
}
