import { type AnyActorRef, fromCallback, fromPromise } from 'xstate'
import type { TunnelEvent, TunnelName } from '../../machines/events.ts'
import { tunnelMachine } from '../../machines/tunnel.ts'
import { isTraced, traced } from '../observe/tracing.ts'
import { quietly } from '../wait.ts'
import { contained } from './contain.ts'
import { asTunnelError } from './opening.ts'
import type { Tunnel } from './tunnel.ts'

type Machine = typeof tunnelMachine

function dialed(tunnel: Tunnel, signal: AbortSignal): Promise<void> {
  if (!isTraced('dial')) return tunnel.dial(signal)
  const { target, generation } = tunnel
  return traced('dial', { destination: target.id, generation, transport: target.transport }, () => tunnel.dial(signal))
}

/** The tunnel's machine with its owners, made once per pool: each actor finds its tunnel by generation. `change` is a test's way in. */
export function tunnelLogic(
  tunnels: ReadonlyMap<number, Tunnel>,
  change: (machine: Machine) => Machine = (machine) => machine,
): Machine {
  const of = ({ generation }: TunnelName): Tunnel => {
    const tunnel = tunnels.get(generation)
    if (tunnel === undefined) throw new Error(`no tunnel of generation ${generation}`)
    return tunnel
  }
  const machine = tunnelMachine.provide({
    actors: {
      guardian: fromCallback<TunnelEvent, TunnelName>(({ input, self }) => {
        const tunnel = of(input)
        tunnel.attach(self._parent as AnyActorRef)
        // Runs at every end; there is something to free only if the actor was stopped from outside.
        return () => {
          if (tunnel.scope.size > 0) quietly(tunnel.bury())
        }
      }),
      makeDirectory: fromPromise<void, TunnelName>(async ({ input }) => {
        const tunnel = of(input)
        try {
          await tunnel.makeDirectory()
        } catch (error) {
          // The machine keeps its code only.
          tunnel.error ??= asTunnelError(error)
          throw tunnel.error
        }
      }),
      dial: fromPromise<void, TunnelName>(async ({ input, signal }) => await dialed(of(input), signal)),
      probe: fromPromise<void, TunnelName>(async ({ input, signal }) => await of(input).probe(signal, Number.POSITIVE_INFINITY)),
      release: fromPromise<void, TunnelName & { force: boolean }>(async ({ input }) => await of(input).release(input.force)),
    },
    actions: {
      cutLeases: ({ context }) => tunnels.get(context.generation)?.leases.cut(context.code, context.reason),
    },
    guards: {
      scopeIsHeld: ({ context }) => (tunnels.get(context.generation)?.scope.size ?? 0) > 0,
    },
  })
  return contained(change(machine), {
    fault: (message) => ({ type: 'tunnel.fault', message }),
    moved: (to, snapshot) => tunnels.get((snapshot.context as TunnelName).generation)?.record.moved(to, snapshot),
  })
}
