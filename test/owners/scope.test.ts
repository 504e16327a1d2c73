import assert from 'node:assert/strict'
import { Ledger } from '../../src/owners/ledger.ts'
import { type Held, type Release, Scope } from '../../src/owners/scope.ts'

const tick = () => new Promise<void>((resolve) => process.nextTick(resolve))

/** A scope whose resources write down what is done to them, and go by themselves only where they are told to. */
class World {
  readonly ledger = new Ledger()
  readonly scope = new Scope(this.ledger, 'tunnel 7')
  readonly done: string[] = []
  readonly held = new Map<string, Held>()

  hold(label: string, release: Partial<Release> & { isStubborn?: boolean } = {}): this {
    const act = (what: string, own?: () => void) => () => {
      this.done.push(`${what} ${label}`)
      own?.()
      if (release.isStubborn !== true) this.held.get(label)?.strike()
    }
    this.held.set(
      label,
      this.scope.hold('socket', label, {
        ask: act('ask', release.ask),
        force: act('force', release.force),
        afterNewer: release.afterNewer,
      }),
    )
    return this
  }

  strike(label: string): this {
    this.held.get(label)?.strike()
    return this
  }
}

describe('Scope', () => {
  it('enters each resource in the ledger under its owner, and strikes it once', () => {
    const { scope, ledger } = new World()
    const held = scope.hold('child', 'ssh', { force: () => {} })
    assert.deepEqual(
      ledger.entries().map(({ kind, label, owner }) => [kind, label, owner]),
      [['child', 'ssh', 'tunnel 7']],
    )
    assert.deepEqual(scope.entries(), ledger.entries())
    held.strike()
    held.strike()
    assert.deepEqual([held.isGone, scope.size, ledger.size], [true, 0, 0])
  })

  for (const way of ['ask', 'force'] as const) {
    it(`gives back newest first, by ${way}, each once`, () => {
      const world = new World().hold('a').hold('b').hold('c')
      world.scope[way]()
      world.scope[way]()
      assert.deepEqual(world.done, [`${way} c`, `${way} b`, `${way} a`])
      assert.equal(world.ledger.size, 0)
    })
  }

  it('asks each once, however often it is told to ask, and forces again each time it is told to force', () => {
    const world = new World().hold('deaf', { isStubborn: true })
    world.scope.ask()
    world.scope.ask()
    assert.deepEqual(world.done, ['ask deaf'])
    world.scope.force()
    world.scope.force()
    assert.deepEqual(world.done, ['ask deaf', 'force deaf', 'force deaf'])
    world.scope.ask()
    assert.equal(world.done.length, 3)
  })

  it('forces where nothing was said about asking, and asks as it was told last', () => {
    const { scope } = new World()
    const done: string[] = []
    scope.hold('agent', 'a', { force: () => done.push('force a') })
    scope.hold('socket', 'b', { ask: () => done.push('ask b'), force: () => {} }).askBy(() => done.push('say goodbye to b'))
    scope.ask()
    assert.deepEqual(done, ['say goodbye to b', 'force a'])
  })

  it('asks for a directory only when all that is newer is gone', async () => {
    const world = new World()
      .hold('old')
      .hold('directory', { afterNewer: true })
      .hold('x', { isStubborn: true })
      .hold('y', { isStubborn: true })
    world.scope.ask()
    assert.deepEqual(world.done, ['ask y', 'ask x', 'ask old'])
    await tick()
    world.strike('y')
    await tick()
    assert.equal(world.done.length, 3)
    world.strike('x')
    await tick()
    assert.equal(world.done.at(-1), 'ask directory')
    assert.equal(world.ledger.size, 0)
  })

  it('does not wait for what is newer when it forces', () => {
    const world = new World().hold('directory', { afterNewer: true, isStubborn: true }).hold('x', { isStubborn: true })
    world.scope.force()
    assert.deepEqual(world.done, ['force x', 'force directory'])
  })

  for (const way of ['ask', 'force'] as const) {
    it(`frees what arrives during a release by ${way}, once it can be freed`, async () => {
      const world = new World()
      world.scope[way]()
      assert.equal(world.scope.isReleasing, true)
      world.hold('late')
      assert.deepEqual(world.done, [])
      await tick()
      assert.deepEqual(world.done, [`${way} late`])
      assert.equal(world.ledger.size, 0)
    })
  }

  it('keeps what it holds until it is told to give back', async () => {
    const world = new World().hold('a')
    await tick()
    assert.deepEqual([world.done, world.scope.isReleasing, world.scope.size], [[], false, 1])
    world.strike('a')
  })

  it('frees the others when the freeing of one throws, and keeps that one on the books', () => {
    for (const way of ['ask', 'force'] as const) {
      const world = new World().hold('old')
      const broken = () => {
        throw new Error('a bug')
      }
      world.hold('broken', { ask: broken, force: broken }).hold('young')
      assert.doesNotThrow(() => world.scope[way]())
      assert.deepEqual(world.done, [`${way} young`, `${way} broken`, `${way} old`])
      assert.deepEqual(
        world.ledger.entries().map(({ label }) => label),
        ['broken'],
      )
    }
  })

  it('says when it is empty, and only then', async () => {
    const world = new World().hold('a', { isStubborn: true }).hold('b', { isStubborn: true })
    await new Scope(world.ledger, 'another').emptied()
    let isEmpty = false
    const emptied = world.scope.emptied().then(() => {
      isEmpty = true
    })
    world.scope.force()
    world.strike('b')
    await tick()
    assert.equal(isEmpty, false)
    world.strike('a')
    await emptied
  })

  it('takes an entry that goes while others are being freed', () => {
    const world = new World().hold('old')
    world.hold('mid').hold('young', { force: () => world.strike('mid') })
    world.scope.force()
    assert.deepEqual(world.done, ['force young', 'force old'])
  })

  it('gives back 4,000 entries quickly, also when each goes in a turn of its own', async () => {
    const count = 4_000
    const world = new World()
    for (let made = 0; made < count; made += 1) world.hold(`${made}`)
    // Of this process: what others take of the machine says nothing of it.
    const began = process.cpuUsage()
    world.scope.force()
    assert.equal(world.ledger.size, 0)
    const slow = new World().hold('directory', { afterNewer: true })
    for (let made = 0; made < count; made += 1) slow.hold(`${made}`, { isStubborn: true })
    slow.scope.ask()
    for (let made = 0; made < count; made += 1) {
      slow.strike(`${made}`)
      await tick()
    }
    assert.equal(slow.ledger.size, 0)
    const { user, system } = process.cpuUsage(began)
    const millis = (user + system) / 1_000
    assert.ok(millis < 1_000, `${Math.round(millis)} ms`)
  })
})
