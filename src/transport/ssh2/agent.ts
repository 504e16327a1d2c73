import type { AgentProtocol, BaseAgent, ParsedKey } from 'ssh2'
import { TunnelError } from '../../errors.ts'
import { type AgentConnection, connectAgent } from '../../owners/agent-connection.ts'
import type { Dial } from '../transport.ts'

type Ssh2 = typeof import('ssh2')
type Use<T> = (protocol: AgentProtocol, done: (error: Error | undefined, value?: T) => void) => void

/** As OpenSSH bounds a message of its agent (AGENT_MAX_LEN). */
const MAX_ANSWER_BYTES = 256 * 1024

/** Which agent, for what, and who hears that it was no help. */
export interface AgentUse {
  readonly path: string
  /** Asked at most for these keys, in this order. */
  readonly publicKeys: readonly string[] | undefined
  /** It is not there, does not answer or refuses; `skip` goes on without it. */
  readonly trouble: (error: unknown, skip: () => void) => void
}

/** The type and blob of a public key line or parsed key, without its comment. */
const blobOf = (ssh2: Ssh2, line: string): string | undefined => {
  const key = ssh2.utils.parseKey(line)
  if (key instanceof Error) return undefined
  const one = (Array.isArray(key) ? key[0] : key) as ParsedKey | undefined
  return one?.getPublicSSH().toString('base64')
}

/** Gives the protocol its one answer in one piece: a length that no agent would send it would wait for without end. */
function feed(protocol: AgentProtocol, { socket }: AgentConnection, fail: (error: Error) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size < 4) return
    const answer = Buffer.concat(chunks)
    const length = answer.readUInt32BE()
    if (length > MAX_ANSWER_BYTES) fail(new Error('what answers there is not an SSH agent'))
    else if (size >= 4 + length) protocol.write(answer.subarray(0, 4 + length))
  })
}

/** One question to the agent, on a connection of its own that ends with the answer, the dial or the time. Rejects with `ERR_AGENT`, or as the dial ended. */
async function ask<T>(ssh2: Ssh2, path: string, { scope, signal, clock, channelTimeoutMillis }: Dial, use: Use<T>): Promise<T> {
  const connection = await connectAgent(path, scope, signal)
  let timer: unknown
  try {
    return await new Promise<T>((resolve, reject) => {
      const fail = (cause?: Error, what = 'gave no answer') =>
        reject(
          signal.aborted
            ? signal.reason
            : new TunnelError('ERR_AGENT', `the SSH agent at ${path} ${what}${cause === undefined ? '' : `: ${cause.message}`}`, {
                cause,
                phase: 'auth',
              }),
        )
      timer = clock.setTimeout(() => fail(undefined, `gave no answer within ${channelTimeoutMillis} ms`), channelTimeoutMillis)
      connection.socket.once('close', () => fail(undefined, 'closed the connection without an answer'))
      const protocol = new ssh2.AgentProtocol(true)
      protocol.on('error', fail)
      protocol.on('data', (request: Buffer) => connection.socket.write(request))
      feed(protocol, connection, fail)
      use(protocol, (error, value) => (error === undefined ? resolve(value as T) : fail(error)))
    })
  } finally {
    clock.clearTimeout(timer)
    connection.close()
  }
}

/** Keys of a running SSH agent, over connections that the dial owns: ssh2's own agent class leaves its socket behind when an agent is mute. */
export function agentOf(ssh2: Ssh2, dial: Dial, { path, publicKeys, trouble }: AgentUse): BaseAgent {
  const chosen = (keys: ParsedKey[]): ParsedKey[] => {
    if (publicKeys === undefined) return keys
    const byBlob = new Map(keys.map((key) => [key.getPublicSSH().toString('base64'), key]))
    return publicKeys.flatMap((line) => byBlob.get(blobOf(ssh2, line) ?? '') ?? [])
  }
  class OwnedAgent extends ssh2.BaseAgent {
    getIdentities(callback: (error: Error | undefined, keys?: ParsedKey[]) => void): void {
      const use: Use<ParsedKey[]> = (protocol, done) =>
        protocol.getIdentities((error, keys) => done(error ?? undefined, keys as ParsedKey[]))
      ask(ssh2, path, dial, use)
        .then((keys) => callback(undefined, chosen(keys)))
        .catch((error) => trouble(error, () => callback(undefined, [])))
    }

    sign(key: ParsedKey, data: Buffer, ...rest: unknown[]): void {
      const callback = rest.at(-1) as (error: Error | undefined, signature?: Buffer) => void
      const options = rest.length > 1 ? (rest[0] as { hash?: 'sha256' | 'sha512' }) : {}
      const use: Use<Buffer> = (protocol, done) =>
        protocol.sign(key, data, options, (error, signature) => done(error ?? undefined, signature))
      ask(ssh2, path, dial, use)
        .then((signature) => callback(undefined, signature))
        .catch((error) => trouble(error, () => callback(error)))
    }
  }
  return new OwnedAgent() as unknown as BaseAgent
}
