import { type AnyActorRef, assign, fromCallback, fromPromise, raise, sendTo, setup } from 'xstate'
import type { TunnelEvent, TunnelInput, TunnelName, TunnelOutput, TunnelReport } from './events.ts'
import { unprovided } from './unprovided.ts'
import { type Why, whyOf } from './why.ts'

/** Between one forced attempt and its verdict. */
const FORCE_MILLIS = 1_000
/** Between forced attempts on what will not die, doubling. */
export const STUCK_MIN_MILLIS = 1_000
const STUCK_MAX_MILLIS = 60_000

export interface TunnelContext extends TunnelInput, Why {
  /** Whether a lease is out. */
  readonly isLeased: boolean
  readonly wasOpen: boolean
  /** Probes that failed in a row. */
  readonly unanswered: number
  readonly graceMillis: number
  readonly stuckMillis: number
}

/** What a tunnel knows, does and asks: the words of which `tunnel.ts` makes its life. */
export const words = setup({
  types: {} as { context: TunnelContext; events: TunnelEvent; input: TunnelInput; output: TunnelOutput },
  actors: {
    /** Forces the release when somebody stops the actor from outside: XState runs no exit actions then. */
    guardian: fromCallback<TunnelEvent, TunnelName>(unprovided),
    makeDirectory: fromPromise<void, TunnelName>(unprovided),
    dial: fromPromise<void, TunnelName>(unprovided),
    probe: fromPromise<void, TunnelName>(unprovided),
    /** Resolves when the scope is empty. */
    release: fromPromise<void, TunnelName & { force: boolean }>(unprovided),
  },
  actions: {
    /** Without a parent (the machine alone, in a test or an editor) it falls back on the tunnel, which ignores it. */
    tell: sendTo(
      ({ self }) => self._parent as AnyActorRef,
      (_, report: TunnelReport) => report,
    ),
    blame: assign(({ event }) => whyOf(event)),
    because: assign((_, why: { reason: string; code: string | undefined }) => why),
    take: assign({ isLeased: true }),
    giveBack: assign({ isLeased: false }),
    markOpen: assign({ wasOpen: true }),
    markProven: assign({ unanswered: 0 }),
    countUnanswered: assign({ unanswered: ({ context }) => context.unanswered + 1 }),
    hurry: assign({
      graceMillis: ({ context, event }) =>
        Math.min(context.graceMillis, (event.type === 'tunnel.close' ? event.graceMillis : undefined) ?? context.graceMillis),
    }),
    /** A later, shorter deadline fires first; a longer one finds the state left. */
    boundDrain: raise(
      { type: 'drain.expired' },
      {
        delay: ({ context, event }) =>
          (event.type === 'tunnel.close' ? event.withinMillis : undefined) ?? context.times.drainTimeoutMillis,
      },
    ),
    waitLonger: assign({ stuckMillis: ({ context }) => Math.min(STUCK_MAX_MILLIS, context.stuckMillis * 2) }),
    /** Ends the leases that are still out, with the tunnel's reason. */
    cutLeases: () => {},
  },
  guards: {
    needsDirectory: ({ context }) => context.needsDirectory,
    isExclusive: ({ context }) => context.isExclusive,
    isOurs: ({ context, event }) => 'generation' in event && event.generation === context.generation,
    isOthers: ({ context, event }) => 'generation' in event && event.generation !== context.generation,
    isLeased: ({ context }) => context.isLeased,
    isUnleased: ({ context }) => !context.isLeased,
    deservesAnotherProbe: ({ context }) => context.isLeased && context.unanswered < 1,
    hasFailed: ({ context }) => context.code !== undefined,
    /** Something came into the scope after it was found empty. */
    scopeIsHeld: () => false,
  },
  delays: {
    openTimeout: ({ context }) => context.times.openTimeoutMillis,
    idleTimeout: ({ context }) => context.times.idleTimeoutMillis,
    probeTimeout: ({ context }) => context.times.probeTimeoutMillis,
    grace: ({ context }) => context.graceMillis,
    force: FORCE_MILLIS,
    stuck: ({ context }) => context.stuckMillis,
  },
})
