import assert from 'node:assert/strict'
import { DestinationWorld } from '../machines/destination-world.ts'
import { failure, turn } from '../machines/gates.ts'
import type { Coverage } from '../model/coverage.ts'
import type { Act } from './acts.ts'

/** The latest gate of those still asked that nobody has answered. */
const pending = <T extends { signal: AbortSignal }>(calls: T[], answered: Set<T>): T | undefined =>
  calls.findLast((call) => !call.signal.aborted && !answered.has(call))

/** The real machine of a destination, to which acts happen. */
export class DestinationRun {
  readonly world: DestinationWorld
  readonly #answered = new Set<object>()
  #generation = 0

  constructor(hasJump: boolean, rests: boolean, coverage: Coverage) {
    this.world = new DestinationWorld(
      { maxLifetimeMillis: 30_000, ...(rests && { backoffMinMillis: 1e9, backoffMaxMillis: 1e9 }) },
      hasJump,
      coverage.inspect,
    )
  }

  async do(step: Act): Promise<void> {
    const { world } = this
    if (step.do === 'send') world.send(step.event)
    else if (step.do === 'exclusive') world.send({ type: 'exclusive.admitted', generation: this.#next() })
    else if (step.do === 'pass') world.pass(step.millis)
    else if (step.do === 'stay') world.isReleasing = !step.on
    else if (step.do === 'world') world[step.is] = step.on
    else if (step.do === 'lose' || step.do === 'close' || step.do === 'take' || step.do === 'prove' || step.do === 'lose first')
      this.#tunnel(step.do)
    else if (step.do === 'jump lost') {
      this.#tunnel(step.do)
      this.#gate(step)
    } else this.#gate(step)
    await world.settle()
    await turn()
    this.check()
  }

  #next(): number {
    this.#generation += 1
    return this.#generation
  }

  #tunnel(what: 'lose' | 'close' | 'take' | 'prove' | 'lose first' | 'jump lost'): void {
    const { live, current } = this.world.known
    const generation = what === 'lose first' ? current : live.at(-1)
    if (generation === undefined) return
    const tunnel = this.world.tunnel(generation)
    if (what === 'close') tunnel.send({ type: 'tunnel.close', reason: 'by itself' })
    else if (what === 'prove') {
      tunnel.send({ type: 'tunnel.verify' })
      this.world.probe.calls.at(-1)?.open()
    } else if (what === 'take') tunnel.send({ type: 'lease.taken', generation, lease: 'a' })
    else tunnel.send({ type: 'tunnel.lost', generation, code: 'ERR_LOST', ...(what === 'jump lost' && { isJumps: true }) })
  }

  #gate(step: Act): void {
    const { admission, jump, dial, release } = this.world
    const answer = <T extends { signal: AbortSignal }>(calls: T[], how: (gate: T) => void) => {
      const gate = pending(calls, this.#answered as Set<T>)
      if (gate === undefined) return
      this.#answered.add(gate)
      how(gate)
    }
    if (step.do === 'admit') answer(admission.calls, (gate) => gate.open({ generation: this.#next() }))
    if (step.do === 'not admitted') answer(admission.calls, (gate) => gate.fail(failure('ERR_LOCAL_LIMIT')))
    if (step.do === 'jump lost')
      answer(admission.calls, (gate) => gate.fail(Object.assign(failure('ERR_LOST'), { jump: 'lost' })))
    if (step.do === 'jump drains')
      answer(admission.calls, (gate) => gate.fail(Object.assign(failure('ERR_LOST'), { jump: 'draining' })))
    if (step.do === 'jump') answer(jump.calls, (gate) => gate.open())
    if (step.do === 'no jump') answer(jump.calls, (gate) => gate.fail(failure('ERR_LOST')))
    if (step.do === 'open') answer(dial.calls, (gate) => gate.open())
    if (step.do === 'open first') answer(dial.calls.slice(0, 1), (gate) => gate.open())
    if (step.do === 'fail') answer(dial.calls, (gate) => gate.fail(failure(step.code)))
    if (step.do === 'free') answer(release.calls, (gate) => gate.open())
  }

  /** What must hold after every step. */
  check(): void {
    const { known, state, actor } = this.world
    if (actor.getSnapshot().status !== 'active') return
    const { live, current, dialing, stuck, exclusive } = known
    assert.equal(new Set(live).size, live.length, 'each generation is counted once')
    for (const generation of [...stuck, ...exclusive])
      assert.ok(live.includes(generation), `${generation} is lost from the books`)
    if (current !== undefined) assert.ok(live.includes(current), 'the current one is in the books')
    if (current !== undefined) assert.ok(state.startsWith('serving') || state === 'leaving', `${state} with a current tunnel`)
    if (dialing !== undefined) assert.ok(live.includes(dialing), 'the one that dials is in the books')
    assert.notEqual(dialing ?? -1, current, 'nothing both serves and dials')
    for (const generation of live)
      assert.equal(this.world.tunnel(generation).getSnapshot().status, 'active', `${generation} has ended unheard`)
  }

  /** It is told to go, everything is freed, and it has gone with all it ever dialled. */
  async end(): Promise<void> {
    const { world } = this
    world.isReleasing = true
    world.send({ type: 'destination.destroy', reason: 'over' })
    for (let round = 0; round < 10 && world.actor.getSnapshot().status === 'active'; round += 1) {
      world.pass(61_000)
      await world.settle()
      await turn()
    }
    assert.equal(world.state, 'left')
    assert.deepEqual(world.known.live, [])
    for (const gates of [world.admission, world.jump, world.dial])
      for (const call of gates.calls) assert.ok(call.signal.aborted || this.#answered.has(call), 'a wait that nobody ended')
  }
}
