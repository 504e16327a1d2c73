import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One seeded fault. */
export interface Mutant {
  readonly name: string
  /** Absolute path of the patch. */
  readonly path: string
  /** What is wrong, in words. */
  readonly fault: string
  /** The spec files that must notice, as globs. */
  readonly specs: readonly string[]
}

/** Every seeded fault beside this file, by name. */
export function mutants(): Mutant[] {
  return readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith('.patch'))
    .sort()
    .map((file) => {
      const path = join(import.meta.dirname, file)
      const text = readFileSync(path, 'utf8')
      const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(text)?.[1] ?? ''
      return { name: file.slice(0, -'.patch'.length), path, fault: field('Fault'), specs: field('Specs').split(' ') }
    })
}

/** Why a patch does not apply to the tree; `undefined` when it does. */
export function misfit({ path }: Mutant, tree: string): string | undefined {
  try {
    execFileSync('git', ['apply', '--check', path], { cwd: tree, stdio: 'pipe', timeout: 10_000 })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Puts a fault into the tree, or takes it out again. */
export function apply({ path }: Mutant, tree: string, direction: 'in' | 'out'): void {
  execFileSync('git', ['apply', ...(direction === 'out' ? ['--reverse'] : []), path], {
    cwd: tree,
    stdio: 'pipe',
    timeout: 10_000,
  })
}
