import { type Stats, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../clock.ts'
import { connectAgent } from '../owners/agent-connection.ts'
import { Ledger } from '../owners/ledger.ts'
import { Scope } from '../owners/scope.ts'
import { keyOf, readLine } from '../trust/line.ts'
import { type Finding, note, problem, well } from './finding.ts'

const GROUP_OR_OTHERS_WRITE = 0o022
const ANSWER_MILLIS = 2_000
/** Request and answer of the agent protocol (draft-ietf-sshm-ssh-agent), framed. */
const REQUEST_IDENTITIES = Buffer.of(0, 0, 0, 1, 11)
const IDENTITIES_ANSWER = 12

/** The file by which hosts are known when a target says nothing else. */
export async function examineKnownHosts(path = join(homedir(), '.ssh/known_hosts')): Promise<Finding> {
  const about = 'known_hosts'
  let stats: Stats | undefined
  let text: string
  try {
    stats = statSync(path, { throwIfNoEntry: false })
    text = stats === undefined ? '' : await readFile(path, 'utf8')
  } catch (error) {
    return problem(
      about,
      `${path} cannot be read: ${(error as Error).message}`,
      'let this user read it, or name another in the target’s hostKey',
    )
  }
  if (stats === undefined)
    return note(
      about,
      `${path} does not exist: every host is unknown, and refused`,
      "make it (ssh-keyscan, and compare), or set the target's hostKey to { pinned } or 'accept-new'",
    )
  if ((stats.mode & GROUP_OR_OTHERS_WRITE) !== 0)
    return problem(about, `others can write to ${path}, and so decide which hosts are trusted`, `chmod go-w ${path}`)
  const lines = text.split('\n')
  const bad = lines.findIndex((line) => line.trim() !== '' && !line.trim().startsWith('#') && !isKey(line))
  const count = lines.filter((line) => isKey(line)).length
  if (bad >= 0)
    return problem(
      about,
      `line ${bad + 1} of ${path} cannot be read and is skipped`,
      `mend or remove it (${count} other keys are known)`,
    )
  return well(about, `${count} keys in ${path}`)
}

function isKey(text: string): boolean {
  const line = readLine(text, '')
  return line !== undefined && keyOf(line) !== undefined
}

/** The agent that `identity: { agent: true }` and `'ambient'` ask. */
export async function examineAgent(path = process.env.SSH_AUTH_SOCK): Promise<Finding> {
  const about = 'agent'
  if (path === undefined || path === '')
    return note(about, 'SSH_AUTH_SOCK is not set', '`identity: { agent: true }` would fail; start an agent, or name keys')
  const scope = new Scope(new Ledger(), 'doctor')
  try {
    const { socket } = await connectAgent(path, scope, AbortSignal.timeout(ANSWER_MILLIS))
    const answer = await new Promise<Buffer>((resolve, reject) => {
      const timer = systemClock.setTimeout(() => reject(new Error(`gives no answer within ${ANSWER_MILLIS} ms`)), ANSWER_MILLIS)
      socket.once('data', resolve).once('close', () => reject(new Error('closed the connection')))
      socket.once('close', () => systemClock.clearTimeout(timer))
      socket.write(REQUEST_IDENTITIES)
    })
    if (answer[4] !== IDENTITIES_ANSWER || answer.length < 9)
      return problem(about, `what listens at ${path} is not an SSH agent`, 'let SSH_AUTH_SOCK name one')
    const count = answer.readUInt32BE(5)
    return count > 0
      ? well(about, `${count} keys at ${path}`)
      : note(about, `the agent at ${path} has no key`, 'add one: ssh-add')
  } catch (error) {
    return problem(
      about,
      `the agent at ${path} does not answer: ${(error as Error).message}`,
      'start it (ssh-agent), and set SSH_AUTH_SOCK in the environment of the server; or name keys',
    )
  } finally {
    scope.force()
    await scope.emptied()
  }
}
