import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs something in a directory of its own, which then goes. */
export function inDirectory<T>(run: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'ssh-g-'))
  try {
    return run(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** What ssh itself makes of a config file for a host: each keyword, in lower case, and its values. Throws with its words when it refuses. */
export function effective(config: string, host: string): ReadonlyMap<string, readonly string[]> {
  return inDirectory((directory) => {
    const file = join(directory, 'f')
    writeFileSync(file, config)
    const text = execFileSync('ssh', ['-G', '-F', file, host], {
      cwd: directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const values = new Map<string, string[]>()
    for (const line of text.split('\n').filter(Boolean)) {
      const at = line.indexOf(' ')
      const [keyword, value] = at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)]
      values.set(keyword, [...(values.get(keyword) ?? []), value])
    }
    return values
  })
}
