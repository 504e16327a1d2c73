import { execFile } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { typescript } from './child.ts'

// By its real path, or it takes itself for a module that somebody imports.
const MOCHA = realpathSync(fileURLToPath(new URL('../../node_modules/mocha/lib/cli/cli.js', import.meta.url)))
const HOOKS = fileURLToPath(new URL('hooks.ts', import.meta.url))

/** Runs mocha with our hooks, and nothing else of our configuration, on files of this folder. */
export function mocha(
  files: readonly string[],
  options: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const paths = files.map((file) => fileURLToPath(new URL(file, import.meta.url)))
  const words = [MOCHA, '--no-config', '--no-package', '--require', HOOKS, '--timeout', '20000', ...options, ...paths]
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [...typescript, ...words],
      { env: { ...process.env, ...env } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    )
  })
}
