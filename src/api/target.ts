import type { Duplex } from 'node:stream'

/** Plain data, checked and deeply copied once; later changes to the object have no effect. Secrets are never enumerable in anything derived from it. */
export interface Target {
  host: string
  /** 22 */
  port?: number | undefined
  user: string
  /** Exactly these are offered, in this order. `'ambient'`: the agent, then the usual key files of the user. Required: nothing is offered by accident. */
  identity: Identity | readonly Identity[] | 'ambient'
  /** Default: `{ knownHosts: [the user's, the system's] }`, strict. */
  hostKey?: HostKeyPolicy | undefined
  /** Name under which the host key is known, e.g. an instance id: survives re-used addresses. Default: host (and port unless 22). */
  hostKeyAlias?: string | undefined
  /** Outermost first; identity and hostKey default to the target's, user too. */
  jumps?: readonly Jump[] | undefined
  /** Default: the pool's. */
  transport?: TransportName | undefined
  keepAliveIntervalMillis?: number | undefined
  keepAliveCountMax?: number | undefined
  /** Shown to people beside `user@host:port`; not part of the key. */
  label?: string | undefined
  /** ssh2 only: supplies the byte stream to the host (SOCKS or HTTP proxy, SSM, IAP). Keyed by reference. */
  connect?: ((to: { host: string; port: number; signal: AbortSignal }) => Promise<Duplex>) | undefined
  /** openssh only. Isolated from every config file unless `configFile` opts in; options are allow-listed by keyword. */
  openssh?:
    | {
        configFile?: string | undefined
        options?: Readonly<Record<string, string>> | undefined
        dangerousOptions?: Readonly<Record<string, string>> | undefined
      }
    | undefined
}
export type TransportName = 'ssh2' | 'openssh'
export interface Jump {
  host: string
  port?: number | undefined
  user?: string | undefined
  identity?: Target['identity'] | undefined
  hostKey?: HostKeyPolicy | undefined
  hostKeyAlias?: string | undefined
  /** As a target's: so that a target can be a jump as it stands. */
  label?: string | undefined
}
export type StaticIdentity =
  | { path: string; passphrase?: string | undefined; certificate?: string | undefined }
  | { key: string | Uint8Array; passphrase?: string | undefined; certificate?: string | Uint8Array | undefined }
  /** `true`: SSH_AUTH_SOCK, read at each dial. */
  | { agent: true | string; publicKeys?: readonly string[] | undefined }
  /** Also answers exactly one non-echo keyboard-interactive prompt, once. */
  | { password: string }
/** `load` is asked at every dial: short-lived certificates and rotating passwords. */
export type Identity = StaticIdentity | { id: string; load: (signal: AbortSignal) => Promise<StaticIdentity> }
export type HostKeyPolicy =
  | { knownHosts: string | readonly string[] }
  /** `SHA256:…` fingerprints or `ssh-ed25519 AAAA…` lines; several for roll-over. */
  | { pinned: string | readonly string[] }
  /** Remembered in the pool's trust store, or in the file named here. */
  | 'accept-new'
  | { acceptNew: string }
  | 'insecure-accept-any'
