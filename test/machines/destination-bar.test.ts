import assert from 'node:assert/strict'
import { failedWorld, failOnce, servingWorld } from './destination-world.ts'

describe('destination machine: the bar', () => {
  for (const code of ['ERR_HOST_KEY', 'ERR_KEY_FORMAT', 'ERR_UNSUPPORTED', 'ERR_SSH_MISSING']) {
    it(`comes at once with ${code}`, async () => {
      assert.equal((await failedWorld([code])).state, 'barred.shut')
    })
  }

  for (const code of ['ERR_REFUSED', 'ERR_OPEN_TIMEOUT', 'ERR_DNS', 'ERR_RESET', 'ERR_KEX', 'ERR_LOCAL_LIMIT', 'ERR_AGENT']) {
    it(`never comes with ${code}`, async () => {
      assert.match((await failedWorld(Array(9).fill(code))).state, /^resting/)
    })
  }

  it('comes with refused logins only after three, of which the first is a minute old', async () => {
    const quick = await failedWorld(Array(9).fill('ERR_AUTH'), { backoffMaxMillis: 0, backoffMinMillis: 0 })
    assert.match(quick.state, /^(resting|dormant)/)
    const two = await failedWorld(['ERR_AUTH'])
    two.pass(60_000)
    await failOnce(two, 'ERR_AUTH')
    assert.match(two.state, /^resting/)
    await failOnce(two, 'ERR_AUTH')
    assert.equal(two.state, 'barred.shut')
  })

  it('takes the minute from the first refused login, not from another failure before it', async () => {
    const world = await failedWorld(['ERR_REFUSED'])
    world.pass(60_000)
    for (let count = 0; count < 3; count += 1) await failOnce(world, 'ERR_AUTH')
    assert.match(world.state, /^resting/)
  })

  it('takes the minute from the first refused login since the last reset', async () => {
    const world = await failedWorld(['ERR_AUTH'])
    world.pass(50_000).send({ type: 'destination.reset' })
    for (let count = 0; count < 2; count += 1) await failOnce(world, 'ERR_AUTH')
    world.pass(15_000)
    assert.equal(world.known.authIsOld, false)
    await failOnce(world, 'ERR_AUTH')
    assert.match(world.state, /^resting/)
    world.pass(60_000)
    await failOnce(world, 'ERR_AUTH')
    assert.equal(world.state, 'barred.shut')
  })

  it('stays whoever wants a dial, until reset', async () => {
    const world = (await failedWorld(['ERR_HOST_KEY'])).force().pass(299_999)
    assert.equal(world.state, 'barred.shut')
    assert.equal(world.admission.calls.length, 1)
    world.send({ type: 'destination.reset' })
    assert.equal(world.state, 'dialing.queued')
    assert.equal(world.known.isBarred, false)
  })

  it('allows one attempt after its pause, to who insists, and survives its failure', async () => {
    const world = (await failedWorld(['ERR_HOST_KEY'])).pass(300_000)
    assert.equal(world.state, 'barred.ready')
    assert.equal(world.want().state, 'barred.ready')
    assert.equal(world.send({ type: 'dial.unwanted' }, { type: 'dial.forced' }).state, 'dialing.queued')
    assert.equal(world.known.isWanted, true)
    await world.failed(await world.admit(), 'ERR_REFUSED')
    assert.equal(world.send({ type: 'dial.unwanted' }).state, 'barred.shut')
    assert.equal(world.force().state, 'barred.shut')
  })

  it('survives an attempt that was given up', async () => {
    const world = (await failedWorld(['ERR_HOST_KEY'])).pass(300_000).force()
    await world.admit()
    world.send({ type: 'dial.unwanted' }).pass(1_000)
    assert.equal(world.state, 'barred.shut')
    assert.equal(world.known.dialing, undefined)
    await world.settle()
    assert.deepEqual(world.known.live, [])
  })

  it('is lifted by an attempt that opens, and by one that opens too late to be lent', async () => {
    const world = (await failedWorld(['ERR_HOST_KEY'])).pass(300_000).force()
    const generation = await world.admit()
    await world.opened(generation)
    assert.equal(world.known.isBarred, false)
    await world.lost(generation)
    await world.failed(await world.admit())
    assert.match(world.state, /^resting/)
    const retired = (await failedWorld(['ERR_HOST_KEY'])).pass(300_000).force()
    const spoilt = await retired.admit()
    retired.retire()
    await retired.opened(spoilt)
    assert.equal(retired.known.isBarred, false)
  })

  it('never allows an attempt when its pause is Infinity', async () => {
    const world = await failedWorld(['ERR_HOST_KEY'], { barredRetryMillis: Number.POSITIVE_INFINITY })
    assert.equal(world.pass(1e12).force().state, 'barred.shut')
  })

  it('is not brought by the end of a tunnel that was open', async () => {
    const world = await servingWorld()
    await world.lost(1, 'ERR_HOST_KEY')
    assert.equal(world.state, 'dormant')
  })
})
