import { TunnelError } from '../../../errors.ts'
import { connectAgent } from '../../../owners/agent-connection.ts'
import type { Dial } from '../../transport.ts'
import { string, uint32, WireReader } from '../wire.ts'
import type { Credential } from './credential.ts'
import { FrameReader } from './frames.ts'

/** Requests and answers of the agent protocol (draft-ietf-sshm-ssh-agent). */
const REQUEST_IDENTITIES = 11
const IDENTITIES_ANSWER = 12
const SIGN_REQUEST = 13
const SIGN_RESPONSE = 14
/** What no person has put into an agent. */
const MOST_KEYS = 256

/** One question on a connection of its own, which ends with the answer, the dial or the time. Rejects with `ERR_AGENT`, or as the dial ended. */
async function ask(path: string, { scope, signal, clock }: Dial, request: Buffer, withinMillis: number): Promise<Buffer> {
  const { socket, close } = await connectAgent(path, scope, signal)
  let timer: unknown
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      const fail = (what: string) =>
        reject(
          signal.aborted ? signal.reason : new TunnelError('ERR_AGENT', `the SSH agent at ${path} ${what}`, { phase: 'auth' }),
        )
      timer = clock.setTimeout(() => fail(`gave no answer within ${withinMillis} ms`), withinMillis)
      socket.once('close', () => fail('closed the connection without an answer'))
      const frames = new FrameReader()
      socket.on('data', (chunk: Buffer) => {
        const [answer] = frames.push(chunk) ?? [Buffer.alloc(0)]
        if (answer?.length === 0) fail('does not speak as an SSH agent does')
        else if (answer !== undefined) resolve(Buffer.from(answer))
      })
      socket.write(string(request))
    })
  } finally {
    clock.clearTimeout(timer)
    close()
  }
}

function readIdentities(answer: Buffer): Array<{ blob: Buffer; comment: string }> | undefined {
  const reader = new WireReader(answer)
  const count = reader.byte() === IDENTITIES_ANSWER ? reader.uint32() : undefined
  if (count === undefined || count > MOST_KEYS) return undefined
  const found: Array<{ blob: Buffer; comment: string }> = []
  for (let index = 0; index < count; index += 1) {
    const [blob, comment] = [reader.string(), reader.text()]
    if (blob === undefined || comment === undefined) return undefined
    found.push({ blob, comment })
  }
  return found
}

/** The keys of a running SSH agent, all or those chosen, in the order chosen. A hardware key waits for its touch as long as the dial does. Rejects with `ERR_AGENT`. */
export async function agentCredentials(
  path: string,
  publicKeys: readonly string[] | undefined,
  dial: Dial,
): Promise<Credential[]> {
  const listed = readIdentities(await ask(path, dial, Buffer.from([REQUEST_IDENTITIES]), dial.channelTimeoutMillis))
  if (listed === undefined)
    throw new TunnelError('ERR_AGENT', `the SSH agent at ${path} does not list its keys`, { phase: 'auth' })
  const byBlob = new Map(listed.map((key) => [key.blob.toString('base64'), key]))
  const wanted = publicKeys?.flatMap((line) => byBlob.get(line.split(/[ \t]+/)[1] ?? '') ?? []) ?? listed
  return wanted.map(({ blob }) => ({
    blob,
    comment: 'agent',
    sign: async (data, flags) => {
      const request = Buffer.concat([Buffer.from([SIGN_REQUEST]), string(blob), string(data), uint32(flags)])
      const reader = new WireReader(await ask(path, dial, request, 2 ** 31 - 1))
      const signature = reader.byte() === SIGN_RESPONSE ? reader.string() : undefined
      if (signature === undefined)
        throw new TunnelError('ERR_AGENT', `the SSH agent at ${path} refuses to sign`, { phase: 'auth' })
      return signature
    },
  }))
}
