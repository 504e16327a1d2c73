import { execFile } from 'node:child_process'

/** What a program said, and how it ended. */
export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end, 15 s at most; any exit code resolves. */
export function run(command: string, args: readonly string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { timeout: 15_000, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error)
      else resolve({ code: Number(error?.code ?? 0), stdout, stderr })
    })
  })
}

/** curl without its configuration file: its exit code says what went wrong. */
export const curl = (...args: string[]): Promise<Ran> => run('curl', ['-q', '-sS', '--max-time', '10', ...args])
