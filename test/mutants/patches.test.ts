import assert from 'node:assert/strict'
import { join } from 'node:path'
import { misfit, mutants } from './patches.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The issue asks for as many at least. */
const LEAST = 30

describe('the seeded faults', () => {
  const all = mutants()

  it('are many, and each says what is wrong and who must notice', () => {
    assert.ok(all.length >= LEAST, `${all.length}`)
    for (const { name, fault, specs } of all) {
      assert.notEqual(fault, '', name)
      assert.ok(specs.length > 0, name)
    }
  })

  it('fit the tree: move the patch along with the code when one does not', () => {
    assert.deepEqual(
      all.flatMap((mutant) => misfit(mutant, ROOT) ?? []),
      [],
    )
  })
})
