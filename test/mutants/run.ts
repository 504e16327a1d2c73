/**
 * `npm run test:mutants [-- name…]`: puts each seeded fault into a copy of the tree and runs the specs that its patch names; they must
 * fail. Fails when a patch does not apply, when specs fail without a fault, or when a fault survives.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apply, misfit, mutants } from './patches.ts'

const ROOT = join(import.meta.dirname, '../..')
const SPEC_MILLIS = 180_000
const asked = process.argv.slice(2)
const chosen = mutants().filter(({ name }) => asked.length === 0 || asked.includes(name))
const tree = mkdtempSync(join(tmpdir(), 'warren-mutants-'))

let said = ''
/** Runs specs in the copy; true when all pass. */
function passes(specs: readonly string[]): boolean {
  const node = ['--import', 'tsx', '--expose-gc', 'node_modules/mocha/bin/mocha.js']
  const options = [
    '--no-config',
    '--require',
    'test/support/hooks.ts',
    '--bail',
    '--exit',
    '--timeout',
    '20000',
    '--reporter',
    'dot',
  ]
  const { status, stdout } = spawnSync(process.execPath, [...node, ...options, ...specs], {
    cwd: tree,
    timeout: SPEC_MILLIS,
    stdio: 'pipe',
  })
  said = String(stdout).slice(-2_000)
  return status === 0
}

const say = (line: string) => process.stdout.write(`${line}\n`)

const wrong: string[] = []
try {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  for (const file of files.split('\0').filter(Boolean)) cpSync(join(ROOT, file), join(tree, file))
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  const sound = [...new Set(chosen.flatMap(({ specs }) => specs))]
  if (!passes(sound)) wrong.push(`the specs fail without any fault: ${sound.join(' ')}\n${said}`)
  else
    for (const mutant of chosen) {
      const why = misfit(mutant, tree)
      if (why !== undefined) {
        wrong.push(`${mutant.name} does not apply: ${why}`)
        continue
      }
      apply(mutant, tree, 'in')
      const began = performance.now()
      const survives = passes(mutant.specs)
      apply(mutant, tree, 'out')
      say(
        `${survives ? 'SURVIVES' : 'caught  '} ${mutant.name} (${((performance.now() - began) / 1000).toFixed(1)} s): ${mutant.fault}`,
      )
      if (survives) wrong.push(`${mutant.name} survives ${mutant.specs.join(' ')}`)
    }
} finally {
  rmSync(tree, { recursive: true, force: true })
}
for (const line of wrong) say(line)
say(`${chosen.length} seeded faults, ${wrong.length} of them a problem`)
if (wrong.length > 0) process.exitCode = 1
