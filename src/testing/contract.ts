import type { Remote } from '../api/forward.ts'
import type { Target } from '../api/target.ts'

/** One SSH host that misbehaves on request. Every switch acts on present and on new connections unless it says otherwise. */
export interface FleetHost {
  /** Pins the key the host was started with, also after `rotateHostKey`. */
  readonly target: Target
  /** `GET /health` is answered 200 `ok`. On the host's own port 80, which only its tunnels reach: no socket of this machine is used. */
  readonly http: Remote
  /** Bytes are neither read nor written until `thaw`; TCP connections are still accepted, as by a kernel whose server hangs. */
  freeze(): void
  thaw(): void
  /** New TCP connections get ECONNREFUSED; the port stays the host's own meanwhile. Present connections go on. */
  refuse(on?: boolean): void
  /** Resets all present connections (RST). */
  sever(): void
  /** Holds every byte, and the end, back for so long in each direction; 0 ends that. */
  delay(millis: number): void
  /** Channel opens are not answered; everything else is. Switched off, those that wait are answered. */
  muteChannels(on?: boolean): void
  /** Connections from now on meet another host key. */
  rotateHostKey(): void
  rejectAuth(on?: boolean): void
  /** The client's FIN is not seen and the server sends none, so the connection stays half closed. Switched off, both are made up for. */
  swallowFin(on?: boolean): void
  /** Puts random bytes into what present connections receive. */
  garbage(): void
  /** Since the start, but `openChannels`, which is now. A copy each time. */
  readonly counts: {
    readonly connections: number
    readonly logins: number
    readonly channels: number
    readonly openChannels: number
    readonly requests: number
  }
}

/** SSH hosts in this process. */
export interface Fleet extends AsyncDisposable {
  readonly hosts: readonly FleetHost[]
  readonly targets: readonly Target[]
  /** Frees every listener and socket, whatever the switches say. Idempotent. */
  close(): Promise<void>
}

/** What the kernel and Node say this process holds. */
export interface Census {
  /** Own descendants, zombies among them, as `pid command`. */
  readonly children: readonly string[]
  readonly zombies: number
  /** Open descriptors, without the one used to count them. */
  readonly descriptors: number
  /** `tcp 127.0.0.1:8022`, `tcp [::1]:8022`, `unix /run/x`. */
  readonly listening: readonly string[]
  /** Node's active resources by kind, and the listeners on `process` as `process.on(exit)`. */
  readonly handles: Readonly<Record<string, number>>
  /** Names under `runtimeDirectory`, recursively; none without it. */
  readonly files: readonly string[]
}
