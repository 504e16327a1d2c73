import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exited, spawnFixture } from './child.ts'
import { until } from './until.ts'

/** OpenSSH's own dummy of a hardware key, in Debian's openssh-tests. */
const PROVIDER = '/usr/lib/openssh/regress/misc/sk-dummy/sk-dummy.so'

/** An agent that holds one FIDO key, whose device always says yes. */
export interface FidoAgent extends AsyncDisposable {
  readonly socketPath: string
  /** `sk-ssh-ed25519@openssh.com AAAA…` */
  readonly publicKey: string
  /** The handle of the key, as a private key file. */
  readonly handle: string
}

/** Starts one. A machine without the dummy is an error, never a skipped test. */
export async function startFidoAgent(): Promise<FidoAgent> {
  if (!existsSync(PROVIDER)) throw new Error(`${PROVIDER} is missing: run .ci/sshd.sh, or apt-get install openssh-tests`)
  const directory = await mkdtemp(join(tmpdir(), 'fido-'))
  const [socketPath, key] = [join(directory, 'socket'), join(directory, 'id')]
  const agent = spawnFixture('/usr/bin/ssh-agent', ['-D', '-a', socketPath, '-P', PROVIDER], ['ignore', 'ignore', 'ignore'])
  const close = async (): Promise<void> => {
    agent.kill('SIGKILL')
    await exited(agent)
    await rm(directory, { recursive: true, force: true })
  }
  try {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519-sk', '-N', '', '-w', PROVIDER, '-f', key], { stdio: 'ignore' })
    await until(() => existsSync(socketPath))
    execFileSync('ssh-add', ['-q', '-S', PROVIDER, key], { env: { SSH_AUTH_SOCK: socketPath }, stdio: 'ignore' })
    const publicKey = readFileSync(`${key}.pub`, 'utf8').trim()
    return { socketPath, publicKey, handle: readFileSync(key, 'utf8'), [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}
