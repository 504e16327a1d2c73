import type { AuthenticationType, BaseAgent, ParsedKey } from 'ssh2'
import { TunnelError } from '../../errors.ts'
import { connectAgent } from '../../owners/agent-connection.ts'
import type { Scope } from '../../owners/scope.ts'

type Ssh2 = typeof import('ssh2')
type Use<T> = (protocol: import('ssh2').AgentProtocol, done: (error: Error | undefined, value?: T) => void) => void

/** The type and blob of a public key line or parsed key, without its comment. */
const blobOf = (ssh2: Ssh2, line: string): string | undefined => {
  const key = ssh2.utils.parseKey(line)
  if (key instanceof Error) return undefined
  const one = (Array.isArray(key) ? key[0] : key) as ParsedKey | undefined
  return one?.getPublicSSH().toString('base64')
}

/**
 * Keys of a running SSH agent, over connections that the dial owns: ssh2's own agent class leaves its socket behind when an agent is
 * mute. Asked at most for the keys in `publicKeys`, in that order.
 */
export function agentOf(
  ssh2: Ssh2,
  path: string,
  publicKeys: readonly string[] | undefined,
  scope: Scope,
  signal: AbortSignal,
): BaseAgent {
  const ask = async <T>(use: Use<T>): Promise<T> => {
    const connection = await connectAgent(path, scope, signal)
    try {
      return await new Promise<T>((resolve, reject) => {
        const protocol = new ssh2.AgentProtocol(true)
        const fail = (error?: Error) =>
          reject(
            signal.aborted
              ? signal.reason
              : new TunnelError('ERR_AGENT', `the SSH agent at ${path} did not answer`, { cause: error, phase: 'auth' }),
          )
        protocol.on('error', fail)
        connection.socket.once('close', () => fail())
        protocol.pipe(connection.socket).pipe(protocol)
        use(protocol, (error, value) => (error === undefined ? resolve(value as T) : fail(error)))
      })
    } finally {
      connection.close()
    }
  }
  class OwnedAgent extends ssh2.BaseAgent {
    getIdentities(callback: (error: Error | undefined, keys?: ParsedKey[]) => void): void {
      ask<ParsedKey[]>((protocol, done) =>
        protocol.getIdentities((error, keys) => done(error ?? undefined, keys as ParsedKey[])),
      ).then((keys) => callback(undefined, this.#chosen(keys)), callback)
    }

    #chosen(keys: ParsedKey[]): ParsedKey[] {
      if (publicKeys === undefined) return keys
      const byBlob = new Map(keys.map((key) => [key.getPublicSSH().toString('base64'), key]))
      return publicKeys.flatMap((line) => byBlob.get(blobOf(ssh2, line) ?? '') ?? [])
    }

    sign(key: ParsedKey, data: Buffer, ...rest: unknown[]): void {
      const callback = rest.at(-1) as (error: Error | undefined, signature?: Buffer) => void
      const options = rest.length > 1 ? (rest[0] as { hash?: 'sha256' | 'sha512' }) : {}
      ask<Buffer>((protocol, done) =>
        protocol.sign(key, data, options, (error, signature) => done(error ?? undefined, signature)),
      ).then((signature) => callback(undefined, signature), callback)
    }
  }
  return new OwnedAgent() as unknown as BaseAgent
}

/** One agent as an authentication method of ssh2. */
export type AgentMethod = { type: AuthenticationType & 'agent'; username: string; agent: BaseAgent }
