import { createActor, fromCallback, type InspectionEvent, SimulatedClock } from 'xstate'
import type { RegistryEvent } from '../../machines/events.ts'
import { poolMachine } from '../../machines/pool.ts'
import { Gates, pathOf } from './gates.ts'

/** The pool's machine with a registry that only writes down what it is told, and releases that are gates. */
export function startPool(closeGraceMillis = 1_000, inspect: (event: InspectionEvent) => void = () => {}) {
  const clock = new SimulatedClock()
  const told: RegistryEvent[] = []
  const release = new Gates<{ force: boolean }, void>()
  let empty = () => {}
  let breakIt = () => {}
  const registry = fromCallback<RegistryEvent, undefined>(({ receive, sendBack }) => {
    empty = () => sendBack({ type: 'registry.emptied' })
    receive((event) => {
      told.push(event)
      breakIt()
    })
  })
  const machine = poolMachine.provide({ actors: { registry, release: release.logic } })
  const actor = createActor(machine, { clock, inspect, input: { closeGraceMillis } }).start()
  return {
    actor,
    told,
    release,
    state: () => pathOf(actor.getSnapshot().value),
    pass: (millis: number) => clock.increment(millis),
    close: (withinMillis: number) => actor.send({ type: 'pool.close', withinMillis }),
    destroy: () => actor.send({ type: 'pool.destroy', reason: 'at once' }),
    emptied: () => empty(),
    breakRegistry: () => {
      breakIt = () => {
        throw new Error('a bug')
      }
    },
  }
}
