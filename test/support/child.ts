import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fixturePids } from './fixtures.ts'

/** Words after `node`, for it to run a file of TypeScript. */
export const typescript: readonly string[] = [
  '--enable-source-maps',
  '--import',
  new URL('typescript/register.js', import.meta.url).href,
]

const SETPRIV = '/usr/bin/setpriv'

/** A process of a fixture: it dies with the test process, however that ends (Linux with util-linux), and the hooks know it. */
export function spawnFixture(file: string, args: readonly string[], stdio: StdioOptions): ChildProcess {
  const [command, ...words] = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL', file, ...args] : [file, ...args]
  const child = spawn(command ?? file, words, { stdio })
  const { pid } = child
  // Never spawned: whoever waits for it hears of it by 'exit' not coming but 'error'.
  child.on('error', () => {})
  if (pid !== undefined) {
    fixturePids.add(pid)
    child.once('exit', () => fixturePids.delete(pid))
  }
  return child
}

/** Whether it is gone, by the operating system. */
export function hasExited(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

/** Resolves when it is gone. */
export async function exited(child: ChildProcess): Promise<void> {
  if (!hasExited(child)) await once(child, 'exit')
}
