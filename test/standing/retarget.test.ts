import assert from 'node:assert/strict'
import { type FleetHost, startFleet } from '../../src/testing/index.ts'
import { ending } from '../channels/world.ts'
import { RESTS_LONG, rejection } from '../pool/world.ts'
import { startPool } from '../support/pool.ts'
import { echo, startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { say, talking, told } from './world.ts'

async function startTwo(): Promise<{ one: FleetHost; two: FleetHost } & AsyncDisposable> {
  const fleet = await startFleet({ hosts: 2 })
  const [one, two] = fleet.hosts
  assert.ok(one && two)
  return { one, two, [Symbol.asyncDispose]: () => fleet.close() }
}

describe('a standing endpoint that is moved to another target', () => {
  it('stays where it is: who comes gets the new one, who is there keeps the old', async () => {
    await using hosts = await startTwo()
    const { one, two } = hosts
    await using server = await startTcpServer(echo)
    await using pool = startPool()
    const standing = await pool.listen(one.target, { to: { port: server.port } })
    const words = told(standing)
    const { address } = standing
    const before = await talking(address)
    standing.retarget(two.target)
    assert.deepEqual([standing.state, standing.address], ['dormant', address])
    const after = await talking(address)
    assert.deepEqual([one.counts.openChannels, two.counts.openChannels], [1, 1])
    before.end('old')
    assert.equal(await ending(before), 'end')
    after.end()
    assert.equal(await ending(after), 'end')
    standing.retarget({ ...two.target })
    assert.deepEqual(words, ['up', 'down', 'up'])
    // It is forgotten where it was, and knows nothing of what happens there.
    one.sever()
    await until(() => pool.stats.lost === 1)
    assert.equal(standing.state, 'up')
  })

  it('takes along who is parked', async () => {
    await using hosts = await startTwo()
    const { one, two } = hosts
    await using server = await startTcpServer(echo)
    await using pool = startPool({ ...RESTS_LONG, acquireTimeoutMillis: Number.POSITIVE_INFINITY })
    one.refuse()
    const standing = await pool.listen(one.target, { to: { port: server.port }, listen: 'tcp' })
    const said = Promise.all(['a', 'b', 'c'].map((words) => say(standing.address, words)))
    await until(() => pool.health(one.target).state === 'resting' && pool.stats.waiting === 3)
    assert.equal(standing.state, 'waiting')
    standing.retarget(two.target)
    assert.deepEqual(await said, ['a', 'b', 'c'])
  })

  it('is dialled there at once when it is eager, and lets the old tunnel go', async () => {
    await using hosts = await startTwo()
    const { one, two } = hosts
    await using server = await startTcpServer(echo)
    await using pool = startPool()
    const standing = await pool.listen(one.target, { to: { port: server.port } }, { eager: true })
    await until(() => standing.state === 'up')
    standing.retarget(two.target)
    await until(() => standing.state === 'up' && two.counts.logins === 1)
    await until(() => pool.report().leases.length === 1)
    one.sever()
    await until(() => pool.stats.lost === 1)
    assert.deepEqual([pool.stats.opened, standing.state], [2, 'up'])
  })

  it('has the other server listen on the same port, when that stops on the first', async () => {
    await using hosts = await startTwo()
    const { one, two } = hosts
    await using server = await startTcpServer(echo)
    await using pool = startPool({ backoffMinMillis: 20, backoffMaxMillis: 20 })
    const standing = await pool.listen(one.target, { remote: { port: 0 }, to: { port: server.port } })
    const { address } = standing
    assert.equal(await say(address), 'hello')
    standing.retarget(two.target)
    await until(() => standing.state === 'up' && two.counts.logins === 1)
    assert.deepEqual(standing.address, address)
    assert.equal(await say(address), 'hello')
    assert.deepEqual([one.counts.openChannels > 0, two.counts.channels], [false, 1])
  })

  it('says what is wrong with the new one, and keeps the old; once closed it is moved no more', async () => {
    await using hosts = await startTwo()
    const { one, two } = hosts
    await using server = await startTcpServer(echo)
    await using pool = startPool()
    const standing = await pool.listen(one.target, { to: { port: server.port } })
    await rejection(
      Promise.resolve().then(() => standing.retarget({ ...two.target, user: '-x' })),
      'ERR_INVALID_OPTION',
    )
    assert.equal(await say(standing.address), 'hello')
    assert.equal(one.counts.logins, 1)
    await standing.close()
    standing.retarget(two.target)
    await until(() => pool.stats.leases === 0)
    assert.equal(two.counts.connections, 0)
  })
})
