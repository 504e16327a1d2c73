import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { exited, spawnFixture } from './child.ts'
import { until } from './until.ts'

/** OpenSSH's agent, in a directory of its own. */
export interface SshAgent extends AsyncDisposable {
  readonly socketPath: string
  readonly pid: number
  close(): Promise<void>
}

/** Starts one that holds these private keys, in this order; at a path where another was, if one is given. */
export async function startAgent(privateKeys: readonly string[], at?: string): Promise<SshAgent> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-'))
  const socketPath = at ?? join(directory, 'socket')
  if (at !== undefined) await rm(at, { force: true })
  const child = spawnFixture('/usr/bin/ssh-agent', ['-D', '-a', socketPath], ['ignore', 'ignore', 'ignore'])
  const close = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited(child)
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await until(() => existsSync(socketPath))
    const files = await Promise.all(privateKeys.map((key, index) => written(directory, `key-${index}`, key)))
    for (const file of files) await promisify(execFile)('ssh-add', ['-q', file], { env: { SSH_AUTH_SOCK: socketPath } })
    return { socketPath, pid: child.pid ?? 0, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

async function written(directory: string, name: string, key: string): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, key, { mode: 0o600 })
  return path
}
