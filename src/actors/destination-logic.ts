import { fromPromise } from 'xstate'
import { destinationMachine } from '../../machines/destination.ts'
import { type DestinationContext, generationOf } from '../../machines/destination-words.ts'
import type { Admission } from '../../machines/events.ts'
import type { tunnelMachine } from '../../machines/tunnel.ts'
import { TunnelError } from '../errors.ts'
import { quietly } from '../wait.ts'
import { contained } from './contain.ts'
import type { Destination } from './destination.ts'

type Machine = typeof destinationMachine

function stuckError({ id, stuck }: DestinationContext): TunnelError {
  const generations = stuck.map((generation) => `generation ${generation}`).join(', ')
  return new TunnelError('ERR_STUCK', `${id}: no further dial while ${generations} will not die; see report()`)
}

const unadmitted = ({ id }: DestinationContext) => new TunnelError('ERR_LOST', `${id}: there was no place to dial in`)

/** The destination's machine with what it acts through, made once per pool: each finds its destination by id. `change` is a test's way in. */
export function destinationLogic(
  destinations: ReadonlyMap<string, Destination>,
  tunnel: typeof tunnelMachine,
  change: (machine: Machine) => Machine = (machine) => machine,
): Machine {
  const of = ({ id }: { id: string }): Destination => {
    const destination = destinations.get(id)
    if (destination === undefined) throw new Error(`no destination ${id}`)
    return destination
  }
  const machine = destinationMachine.provide({
    actors: {
      tunnel,
      jump: fromPromise<void, { id: string }>(async ({ input, signal }) => await of(input).jumping?.approach(signal)),
      admission: fromPromise<Admission, { id: string; isFailing: boolean }>(async ({ input, signal }) => {
        const destination = of(input)
        const { generation } = await destination.admit(signal, { ...input, jump: destination.jumping?.take() })
        return { generation }
      }),
    },
    actions: {
      letJumpGo: ({ context }) => of(context).jumping?.drop(),
      serve: ({ context }) => of(context).lending.serveSoon(),
      failWaiters: ({ context, event }) => of(context).lending.fail(generationOf(event)),
      refuseStuck: ({ context }) => of(context).lending.rejectAll(stuckError(context)),
      dismissWaiters: ({ context, event }) => of(context).dismiss(event.type === 'destination.fault' ? event.message : undefined),
      grantExclusive: ({ context, event }) => of(context).exclusives.grant(generationOf(event)),
      failExclusive: ({ context, event }) => of(context).exclusives.fail(generationOf(event)),
      refuseExclusive: ({ context, event }) => of(context).exclusives.refuse(generationOf(event), stuckError(context)),
      failSuccession: ({ context, event }) => {
        const { tunnels, successions } = of(context)
        const ended = tunnels.get(generationOf(event))?.failure(undefined, 'the successor did not open')
        const refused = 'error' in event && TunnelError.is(event.error) ? event.error : undefined
        successions.failed(ended ?? refused ?? (context.stuck.length > 0 ? stuckError(context) : unadmitted(context)))
      },
      announceStuck: ({ context, event }) => of(context).announceStuck(generationOf(event)),
      depart: ({ context, event }) => of(context).farewell(generationOf(event)),
      autopsy: ({ context, event }) => quietly(of(context).autopsy(generationOf(event))),
    },
    guards: {
      mayDialNow: ({ context }) => of(context).mayDialNow,
      hasNoRoom: ({ context }) => of(context).parts.room.isFull,
      isKept: ({ context }) => of(context).endpoints > 0,
      isIdle: ({ context }) => of(context).current?.leases.size === 0,
    },
    delays: { spread: () => Math.random() * 250 },
  })
  return contained(change(machine), {
    fault: (message) => ({ type: 'destination.fault', message }),
    moved: (to, snapshot) => {
      const context = snapshot.context as DestinationContext
      destinations.get(context.id)?.moved(to, context)
    },
  })
}
