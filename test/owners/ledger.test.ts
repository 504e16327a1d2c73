import assert from 'node:assert/strict'
import { Ledger } from '../../src/owners/ledger.ts'

const labels = (ledger: Ledger) => ledger.entries().map(({ label }) => label)

describe('Ledger', () => {
  it('lists what is open, oldest first, with kind, owner and time', () => {
    const ledger = new Ledger()
    ledger.enter('socket', 'a', 'tunnel 1')
    ledger.enter('directory', 'b', 'pool')
    const [first] = ledger.entries()
    assert.deepEqual(labels(ledger), ['a', 'b'])
    assert.deepEqual({ ...first, since: undefined }, { kind: 'socket', label: 'a', owner: 'tunnel 1', since: undefined })
    assert.ok(first?.since instanceof Date)
    assert.equal(ledger.size, 2)
  })

  it('tells two equal entries apart, and strikes each once', () => {
    const ledger = new Ledger()
    const one = ledger.enter('socket', 'same', 'owner')
    ledger.enter('socket', 'same', 'owner')
    ledger.strike(one)
    ledger.strike(one)
    assert.equal(ledger.size, 1)
  })

  it('says when it is empty, at once when it is, and to all who asked', async () => {
    const ledger = new Ledger()
    await ledger.emptied()
    const entries = ['a', 'b'].map((label) => ledger.enter('timer', label, 'owner'))
    const told: number[] = []
    const waits = [1, 2].map((who) => ledger.emptied().then(() => told.push(who)))
    for (const entry of entries) {
      await Promise.resolve()
      assert.deepEqual(told, [])
      ledger.strike(entry)
    }
    await Promise.all(waits)
    assert.deepEqual(told, [1, 2])
  })

  it('gives a list that later entries do not change', () => {
    const ledger = new Ledger()
    const list = ledger.entries()
    ledger.enter('child', 'ssh', 'owner')
    assert.equal(list.length, 0)
  })
})
