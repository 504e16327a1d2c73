import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Target } from '../src/index.ts'

/** A program of ours in another process, ended by disposing of it, and the first line it says. */
async function elsewhere(...words: string[]): Promise<{ line: string } & AsyncDisposable> {
  const child = spawn(process.execPath, ['--import', './test/support/typescript/register.js', ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return {
    line,
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}

/** A fleet in another process. */
export async function fleetElsewhere(hosts: number): Promise<{ targets: readonly Target[] } & AsyncDisposable> {
  const fleet = await elsewhere('bench/fleet.ts', String(hosts))
  return Object.assign(fleet, { targets: JSON.parse(fleet.line) as Target[] })
}

/** An HTTP server in another process. */
export async function originElsewhere(): Promise<{ port: number } & AsyncDisposable> {
  const origin = await elsewhere('bench/origin.ts')
  return Object.assign(origin, { port: Number(origin.line) })
}

/** So many different destinations on the hosts of a fleet: each a connection of its own. */
export const spreadOver = (targets: readonly Target[], count: number): Target[] =>
  Array.from({ length: count }, (_, index) => ({ ...(targets[index % targets.length] as Target), hostKeyAlias: `i-${index}` }))

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
