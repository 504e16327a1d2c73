import assert from 'node:assert/strict'
import { Tally } from '../../src/actors/tally.ts'

describe('Tally', () => {
  it('moves each from state to state, and passes over states that are not counted', () => {
    const tally = new Tally()
    tally.moveDestination(undefined, 'dormant')
    tally.moveDestination('dormant', 'dialing')
    assert.deepEqual(tally.snapshot().destinations, { dormant: 0, dialing: 1, serving: 0, resting: 0, barred: 0, leaving: 0 })
    tally.moveDestination('dialing', 'left')
    tally.moveTunnel(undefined, 'opening')
    tally.moveTunnel('opening', 'failed')
    assert.deepEqual(Object.values(tally.snapshot().destinations), [0, 0, 0, 0, 0, 0])
    assert.deepEqual(tally.snapshot().tunnels, { opening: 0, open: 0, draining: 0 })
  })

  it('gives counts that do not change under whoever has them', () => {
    const tally = new Tally()
    const counts = tally.snapshot()
    tally.moveTunnel(undefined, 'open')
    tally.leases += 1
    assert.equal(counts.tunnels.open, 0)
    assert.equal(counts.leases, 0)
  })

  it('is settled when nothing opens, drains or dials, and tells all who wait, once', async () => {
    const tally = new Tally()
    await tally.settled()
    tally.moveDestination(undefined, 'dialing')
    tally.moveTunnel(undefined, 'opening')
    const told: number[] = []
    const waits = [1, 2].map((who) => tally.settled().then(() => told.push(who)))
    tally.moveTunnel('opening', 'open')
    tally.moveTunnel(undefined, 'draining')
    tally.moveDestination('dialing', 'serving')
    await Promise.resolve()
    assert.deepEqual(told, [])
    tally.moveTunnel('draining', 'closed')
    await Promise.all(waits)
    assert.deepEqual(told, [1, 2])
  })
})
