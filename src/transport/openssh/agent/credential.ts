/** One key that may log in. What proves it stays behind `sign`. */
export interface Credential {
  /** The public key or certificate, as SSH sends it. */
  readonly blob: Buffer
  /** For ssh's own messages; never from the key file. */
  readonly comment: string
  /** The signature in SSH's format, by the agent protocol's flags. Rejects when it cannot be made. */
  sign(data: Buffer, flags: number): Promise<Buffer>
}
