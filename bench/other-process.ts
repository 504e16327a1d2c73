import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Target } from '../src/index.ts'

/** A fleet in another process, ended by disposing of it. */
export async function fleetElsewhere(hosts: number): Promise<{ targets: readonly Target[] } & AsyncDisposable> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'bench/fleet.ts', String(hosts)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const [line] = (await once(lines, 'line')) as [string]
  return {
    targets: JSON.parse(line) as Target[],
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}

/** So many different destinations on the hosts of a fleet: each a connection of its own. */
export const spreadOver = (targets: readonly Target[], count: number): Target[] =>
  Array.from({ length: count }, (_, index) => ({ ...(targets[index % targets.length] as Target), hostKeyAlias: `i-${index}` }))

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
