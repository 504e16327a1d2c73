import assert from 'node:assert/strict'
import { assign, createActor, fromCallback, raise, sendTo, setup } from 'xstate'
import { contained, onEnd, topState } from '../../src/actors/contain.ts'

type Event = { type: 'go' } | { type: 'fault'; message: string } | { type: 'tick' } | { type: 'note'; what: string }

/** A machine with a child in each state, whose next step throws when it is told to. */
function startTrial({ isAnswerThrowing = false }: { isAnswerThrowing?: boolean } = {}) {
  const world = { isThrowing: false, running: 0, begun: 0, notes: [] as string[], moves: [] as string[] }
  const machine = setup({
    types: {} as { context: { count: number; message: string }; events: Event },
    actors: {
      child: fromCallback(() => {
        world.running += 1
        world.begun += 1
        return () => {
          world.running -= 1
        }
      }),
    },
    actions: {
      count: assign({ count: ({ context }) => context.count + 1 }),
      later: raise({ type: 'tick' }, { delay: 1_000, id: 'later' }),
      noteSelf: sendTo(({ self }) => self, { type: 'note', what: 'sent' }),
      note: ({ event }) => void world.notes.push(event.type === 'note' ? event.what : event.type),
      mayThrow: () => {
        if (world.isThrowing) throw new Error('a bug')
      },
      answer: ({ event }) => {
        world.notes.push(event.type === 'fault' ? event.message : '')
        if (isAnswerThrowing) throw new Error('another bug')
      },
    },
  }).createMachine({
    context: { count: 0, message: '' },
    initial: 'one',
    invoke: { src: 'child', onError: {} },
    on: { fault: { actions: 'answer' }, note: { actions: 'note' }, tick: { actions: 'note' } },
    states: {
      one: { invoke: { src: 'child', onError: {} }, on: { go: { target: 'two', actions: ['count', 'later', 'noteSelf'] } } },
      two: { invoke: { src: 'child', onError: {} }, always: { target: 'three' } },
      three: { entry: 'mayThrow', invoke: { src: 'child', onError: {} } },
    },
  })
  const logic = contained(machine, {
    fault: (message) => ({ type: 'fault', message }),
    moved: (to) => void world.moves.push(to),
  })
  const ends: unknown[] = []
  const actor = createActor(logic)
  onEnd(actor, { ended: () => ends.push('ended'), broken: (error) => ends.push(error) })
  actor.start()
  return { world, actor, ends }
}

const timersOf = (actor: ReturnType<typeof startTrial>['actor']) =>
  Object.keys(actor.system.getSnapshot()._scheduledEvents).length

describe('contained', () => {
  it('does nothing to a machine that does not throw', () => {
    const { world, actor } = startTrial()
    actor.send({ type: 'go' })
    assert.equal(actor.getSnapshot().value, 'three')
    assert.equal(actor.getSnapshot().context.count, 1)
    assert.equal(timersOf(actor), 1)
    assert.deepEqual([world.running, world.notes, world.moves], [2, ['sent'], ['three']])
    actor.stop()
    assert.equal(world.running, 0)
  })

  it('tells the machine of a throw, and the step that threw has had no effect', () => {
    const { world, actor, ends } = startTrial()
    world.isThrowing = true
    actor.send({ type: 'go' })
    const { status, value, context } = actor.getSnapshot()
    assert.deepEqual([status, value, context.count], ['active', 'one', 0])
    assert.deepEqual(world.notes, ['a bug'])
    assert.deepEqual([world.running, world.begun], [2, 2], 'children of the step that threw never ran, those before it run on')
    assert.equal(timersOf(actor), 0)
    world.isThrowing = false
    actor.send({ type: 'go' })
    assert.equal(actor.getSnapshot().value, 'three')
    assert.deepEqual(ends, [])
    actor.stop()
    assert.deepEqual([world.running, ends], [0, ['ended']])
  })

  it('breaks the actor when answering throws, and leaves no child running', () => {
    const { world, actor, ends } = startTrial({ isAnswerThrowing: true })
    world.isThrowing = true
    actor.send({ type: 'go' })
    assert.equal(actor.getSnapshot().status, 'error')
    assert.equal(world.running, 0)
    assert.deepEqual(
      ends.map((error) => (error as Error).message),
      ['another bug'],
    )
  })

  it('gives up a machine that throws again and again', () => {
    const { world, actor, ends } = startTrial()
    world.isThrowing = true
    for (let count = 0; count < 3; count += 1) actor.send({ type: 'go' })
    assert.equal(actor.getSnapshot().status, 'active')
    actor.send({ type: 'go' })
    assert.equal(actor.getSnapshot().status, 'error')
    assert.deepEqual([world.running, ends.length], [0, 1])
  })

  it('stays silent when nobody listens to the rest: a broken actor does not end the process', async () => {
    const { world, actor } = startTrial({ isAnswerThrowing: true })
    world.isThrowing = true
    actor.send({ type: 'go' })
    // XState reports an error that was not heard on a timer: the hooks would see it.
    await new Promise((resolve) => setTimeout(resolve, 1))
  })

  it('names the top of a state', () => {
    const { actor } = startTrial()
    assert.equal(topState(actor.getSnapshot()), 'one')
    assert.equal(topState({ value: { draining: { releasing: 'forced' } } } as never), 'draining')
    actor.stop()
  })
})
