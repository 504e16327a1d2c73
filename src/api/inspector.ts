/** A page that shows one pool. */
export interface InspectorServer extends AsyncDisposable {
  /** With the token that lets its reader in, in the fragment: show it to whoever may look, and to nobody else. */
  readonly url: string
  /** Ends the streams of all who look. Idempotent. */
  close(): Promise<void>
}
export interface InspectorOptions {
  /** 0: any that is free. */
  port?: number | undefined
  /** 127.0.0.1 */
  host?: string | undefined
  /** Needed for a `host` that other machines reach. Nothing is encrypted: put it behind something that does. */
  allowRemote?: true | undefined
}
