import type { TunnelError } from '../errors.ts'
import type { Target } from './target.ts'

/** As seen from the server; host defaults to 127.0.0.1. */
export type Remote = { port: number; host?: string | undefined } | { socketPath: string }
/** `'unix'` (default): a socket in a 0700 directory of the pool. `'tcp'`: 127.0.0.1, any free port. */
export type Listen = 'unix' | 'tcp' | { socketPath: string } | { port: number; host?: string | undefined }
export interface LocalForward {
  to: Remote
  listen?: Listen | undefined
  /** With a socketPath: bind beside it and rename over a live listener of our own uid (a successor process takes over without refusing a connection). */
  takeOver?: true | undefined
}
/** The server listens (port 0: read back); connections arrive at `to` on our side. */
export interface ReverseForward {
  remote: Remote
  to: { port: number; host?: string | undefined } | { socketPath: string }
}
/** SOCKS5, spoken by us over `connect`. On a TCP endpoint it needs credentials, or `insecure: true`. */
export interface DynamicForward {
  socks: true | { username: string; password: string }
  listen?: Listen | undefined
  insecure?: true | undefined
}
export type ForwardSpec = LocalForward | ReverseForward | DynamicForward
export type Forwards = Readonly<Record<string, ForwardSpec>>
export type UnixAddress = { readonly socketPath: string }
export type TcpAddress = { readonly host: string; readonly port: number }
type ListenAddress<L> = L extends 'tcp' | { port: number } ? TcpAddress : UnixAddress
export type AddressOf<S extends ForwardSpec> = S extends { remote: infer R }
  ? R extends { socketPath: string }
    ? UnixAddress
    : TcpAddress
  : S extends { listen?: infer L }
    ? ListenAddress<L>
    : UnixAddress
export interface Forward<S extends ForwardSpec = ForwardSpec> extends AsyncDisposable {
  readonly kind: 'local' | 'reverse' | 'dynamic'
  readonly address: AddressOf<S>
  /** Gives up this holder's claim; the listener goes with the last one. Idempotent. */
  close(): Promise<void>
}
/** Owned by the pool, the same address across generations. */
export interface Standing<S extends ForwardSpec = ForwardSpec> extends Forward<S> {
  readonly state: 'dormant' | 'up' | 'waiting' | 'barred'
  readonly cause: TunnelError | undefined
  /** Moves the endpoint to another target without closing it. */
  retarget(target: Target): void
  on(event: 'up' | 'down' | 'refused', listener: (fact: { cause?: TunnelError | undefined }) => void): this
  off(event: 'up' | 'down' | 'refused', listener: (fact: { cause?: TunnelError | undefined }) => void): this
  ref(): this
  unref(): this
}
