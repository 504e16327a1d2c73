import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { createActor, createMachine } from 'xstate'
import { systemClock } from '../src/clock.ts'

const passed = (millis: number) => new Promise<void>((resolve) => void systemClock.setTimeout(resolve, millis))

function block(millis: number): void {
  const until = performance.now() + millis
  while (performance.now() < until);
}

/** A loopback connection: what `server` writes lies in the kernel until the loop polls. */
async function pair() {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as { port: number }
  const client = connect(port, '127.0.0.1')
  const [[server]] = await Promise.all([once(listener, 'connection'), once(client, 'connect')])
  const close = async () => {
    client.destroy()
    server.destroy()
    listener.close()
    await once(listener, 'close')
  }
  return { client, server, close }
}

describe('systemClock', () => {
  for (const millis of [Number.POSITIVE_INFINITY, 2 ** 31, 1e12]) {
    it(`makes no timer of ${millis} ms`, async () => {
      let hasFired = false
      const timer = systemClock.setTimeout(() => {
        hasFired = true
      }, millis)
      assert.equal(timer, undefined)
      await passed(10)
      assert.equal(hasFired, false)
      systemClock.clearTimeout(timer)
    })
  }

  it('makes one of the longest that Node can make', () => {
    const timer = systemClock.setTimeout(() => {}, 2 ** 31 - 1)
    assert.notEqual(timer, undefined)
    systemClock.clearTimeout(timer)
  })

  it('lets a machine wait for ever', async () => {
    const machine = createMachine({
      initial: 'waiting',
      states: {
        waiting: { after: { never: 'done', long: 'done' } },
        done: {},
      },
    }).provide({ delays: { never: Number.POSITIVE_INFINITY, long: 2 ** 31 } })
    const actor = createActor(machine, { clock: systemClock as never }).start()
    await passed(10)
    assert.equal(actor.getSnapshot().value, 'waiting')
    actor.stop()
  })

  it('does not hold the process', () => {
    const held = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const timer = systemClock.setTimeout(() => {}, 1e6)
    assert.equal(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length, held)
    systemClock.clearTimeout(timer)
  })

  it('lets what has come in meanwhile be read before a timer that is late', async () => {
    const { client, server, close } = await pair()
    const order: string[] = []
    client.on('data', () => order.push('bytes'))
    const late = new Promise<void>((resolve) => {
      systemClock.setTimeout(() => {
        order.push('our timer')
        resolve()
      }, 10)
    })
    setTimeout(() => order.push('a plain timer'), 10)
    server.write('alive')
    block(400)
    await late
    assert.deepEqual(order, ['a plain timer', 'bytes', 'our timer'])
    await close()
  })

  it('does not fire a late timer that what was read has cleared', async () => {
    const { client, server, close } = await pair()
    let hasFired = false
    const timer = systemClock.setTimeout(() => {
      hasFired = true
    }, 10)
    const read = once(client, 'data').then(() => systemClock.clearTimeout(timer))
    server.write('alive')
    block(400)
    await read
    await passed(5)
    assert.equal(hasFired, false)
    await close()
  })

  it('fires a timer that is in time at once, in order, and a cleared one never', async () => {
    const order: number[] = []
    systemClock.setTimeout(() => order.push(2), 6)
    systemClock.setTimeout(() => order.push(1), 3)
    systemClock.clearTimeout(systemClock.setTimeout(() => order.push(3), 4))
    systemClock.clearTimeout(undefined)
    await passed(12)
    assert.deepEqual(order, [1, 2])
  })

  it('knows boot time, which goes on where monotonic time may stand still', () => {
    assert.ok(systemClock.boot() > systemClock.now())
    assert.ok(Math.abs(systemClock.date().getTime() - Date.now()) < 1_000)
  })
})
