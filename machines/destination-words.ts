import { type AnyActorRef, assign, cancel, fromPromise, raise, sendTo, setup, spawnChild, stopChild } from 'xstate'
import type { Admission, DestinationEvent, DestinationInput, TunnelEvent } from './events.ts'
import { tunnelMachine } from './tunnel.ts'
import { unprovided } from './unprovided.ts'
import { hasFailed, isPermanent, restAfter } from './verdict.ts'
import { field } from './why.ts'

/** A dial that nobody waits for any more goes on for this long: the next one to ask is served sooner. */
const LINGER_MILLIS = 1_000
/** After a failure no dial for this long, whoever wants one. */
const HUSH_MILLIS = 1_000
const FORGET_MILLIS = 600_000
/** A destination dials no further generation while this many will not die. */
const MAX_STUCK = 3

export interface DestinationContext extends DestinationInput {
  /** Whether somebody waits. */
  readonly isWanted: boolean
  /** Whether somebody wants a dial although it rests. */
  readonly isForced: boolean
  /** Whether the dial under way began before a retire: it is not lent. */
  readonly isStale: boolean
  /** Whether the old generation goes even if its successor does not open. */
  readonly mustGo: boolean
  /** Whether the current tunnel has lived its time, and no successor has opened yet. */
  readonly isOverdue: boolean
  readonly current: number | undefined
  readonly dialing: number | undefined
  readonly live: readonly number[]
  readonly stuck: readonly number[]
  /** Exclusive ones that are opening or were lent. */
  readonly exclusive: readonly number[]
  /** Openings in a row that ended before they had served whoever waited. */
  readonly vain: number
  readonly failures: number
  readonly authFailures: number
  readonly authIsOld: boolean
  /** Barred, and since then neither reset nor opened. */
  readonly isBarred: boolean
  readonly restMillis: number
  readonly code: string | undefined
}

const without = (list: readonly number[], generation: number) => list.filter((other) => other !== generation)
/** The id of a tunnel's actor. */
export const nameOf = (generation: number | undefined) => `tunnel-${generation}`
/** A tunnel by generation; the destination itself, which ignores what is meant for a tunnel, when it has ended meanwhile. */
const tunnelOf = (self: AnyActorRef, generation: number | undefined): AnyActorRef =>
  (self.getSnapshot() as { children: Record<string, AnyActorRef | undefined> }).children[nameOf(generation)] ?? self
/** Which tunnel an event is about: as it says, or by the actor that broke. NaN, which equals nothing, when it is about none. */
export const generationOf = (event: DestinationEvent): number => {
  if ('generation' in event) return event.generation
  return 'actorId' in event && event.actorId.startsWith('tunnel-') ? Number(event.actorId.slice('tunnel-'.length)) : Number.NaN
}
export const codeOf = (event: DestinationEvent) => ('code' in event ? event.code : undefined)

/** What a destination knows, does and asks: the words of which `destination.ts` makes its life. */
export const words = setup({
  types: {} as { context: DestinationContext; events: DestinationEvent; input: DestinationInput },
  actors: {
    tunnel: tunnelMachine,
    /** Takes a lease on the jump, however long that takes; rejects when nobody waits for it any more. */
    jump: fromPromise<void, { id: string }>(unprovided),
    /** Waits for a place in which to dial; stopped, it gives the place back. */
    admission: fromPromise<Admission, { id: string; isFailing: boolean }>(unprovided),
  },
  actions: {
    want: assign({ isWanted: true }),
    unwant: assign({ isWanted: false, isForced: false }),
    insist: assign({ isForced: true, isWanted: true }),
    calm: assign({ isForced: false }),
    linger: raise({ type: 'dial.lingered' }, { delay: LINGER_MILLIS, id: 'linger' }),
    stay: cancel('linger'),
    begin: assign((_, { generation }: Admission) => ({ dialing: generation, isStale: false })),
    dial: spawnChild('tunnel', {
      id: ({ context }) => nameOf(context.dialing),
      input: ({ context }) => ({
        destination: context.id,
        generation: context.dialing ?? 0,
        isExclusive: false,
        needsDirectory: context.needsDirectory,
        times: context.tunnelTimes,
      }),
    }),
    dialExclusive: spawnChild('tunnel', {
      id: ({ event }) => nameOf(generationOf(event)),
      input: ({ context, event }) => ({
        destination: context.id,
        generation: generationOf(event),
        isExclusive: true,
        needsDirectory: context.needsDirectory,
        times: context.tunnelTimes,
      }),
    }),
    count: assign({ live: ({ context }) => (context.dialing === undefined ? context.live : [...context.live, context.dialing]) }),
    countExclusive: assign({
      live: ({ context, event }) => [...context.live, generationOf(event)],
      exclusive: ({ context, event }) => [...context.exclusive, generationOf(event)],
    }),
    spoil: assign({ isStale: true }),
    promote: assign({
      current: ({ context }) => context.dialing,
      dialing: undefined,
      mustGo: false,
      isOverdue: false,
      isBarred: false,
    }),
    demote: assign(({ context }) => ({ current: undefined, isOverdue: false, vain: context.isWanted ? context.vain + 1 : 0 })),
    /** The jump was lost under a dial: the next one is immediate, unless that goes on and on. */
    countVain: assign({ vain: ({ context }) => (context.isWanted ? context.vain + 1 : 0) }),
    satisfy: assign({ isWanted: false, isForced: false, vain: 0 }),
    drop: assign({ dialing: undefined }),
    noteForce: assign({ mustGo: ({ context, event }) => context.mustGo || (event.type === 'destination.retire' && event.force) }),
    outlive: raise({ type: 'life.over' }),
    expire: assign({ isOverdue: true }),
    /** It is not waited for any longer: neither as a claim's tunnel nor, when it ends, as a dial's failure. */
    markStuck: assign(({ context, event }) => {
      const generation = generationOf(event)
      // What comes late, of one that has ended, must not count for ever.
      const stuck = context.live.includes(generation) ? [...without(context.stuck, generation), generation] : context.stuck
      return { stuck, exclusive: without(context.exclusive, generation) }
    }),
    bury: assign(({ context, event }) => ({
      live: without(context.live, generationOf(event)),
      stuck: without(context.stuck, generationOf(event)),
      exclusive: without(context.exclusive, generationOf(event)),
    })),
    unlink: stopChild(({ event }) => nameOf(generationOf(event))),
    countFailure: assign(({ context, event }) => {
      const failures = context.failures + 1
      const authFailures = context.authFailures + (codeOf(event) === 'ERR_AUTH' ? 1 : 0)
      return { code: codeOf(event), failures, authFailures, restMillis: restAfter(failures, context.times), isForced: false }
    }),
    noteAge: assign({ authIsOld: ({ context }) => context.authFailures > 0 }),
    forgetFailures: assign({ failures: 0, authFailures: 0, authIsOld: false, isBarred: false, code: undefined }),
    forgetAge: cancel('age'),
    bar: assign({ isBarred: true }),
    lift: assign({ isBarred: false }),
    closeCurrent: sendTo(({ self, context }) => tunnelOf(self, context.current), {
      type: 'tunnel.close',
      reason: 'retired',
    } satisfies TunnelEvent),
    closeStale: sendTo(({ self, context }) => tunnelOf(self, context.dialing), {
      type: 'tunnel.close',
      reason: 'retired',
    } satisfies TunnelEvent),
    closeDialing: sendTo(({ self, context }) => tunnelOf(self, context.dialing), {
      type: 'tunnel.destroy',
      reason: 'nobody waits for it',
    } satisfies TunnelEvent),
    /** Gives back a lease on the jump in which no tunnel was begun. */
    letJumpGo: () => {},
    /** Lends the current tunnel to all who wait. */
    serve: () => {},
    /** Rejects all who wait with the dial's own error. */
    failWaiters: () => {},
    /** Rejects all who wait, because the destination ends. */
    dismissWaiters: () => {},
    grantExclusive: () => {},
    failExclusive: () => {},
    failSuccession: () => {},
    announceStuck: () => {},
    /** Rejects all who wait, because too many generations will not die. */
    refuseStuck: () => {},
    refuseExclusive: () => {},
    /** A tunnel is final: its places go to others. */
    depart: () => {},
    /** A tunnel actor broke: frees its scope, and reports its end when that is done. */
    autopsy: () => {},
  },
  guards: {
    isDialing: ({ context, event }) => generationOf(event) === context.dialing,
    hasJump: ({ context }) => context.hasJump,
    /** The jump whose lease it had was lost while it waited for a place, or is not lent any more. */
    isJumpLost: ({ event }) => 'error' in event && field(event.error, 'jump') === 'lost',
    isJumpDraining: ({ event }) => 'error' in event && field(event.error, 'jump') === 'draining',
    /** The jump was lost under the dial. */
    isJumpsFault: ({ context, event }) =>
      generationOf(event) === context.dialing && 'isJumps' in event && event.isJumps === true && !event.wasOpen,
    isCurrent: ({ context, event }) => generationOf(event) === context.current,
    isExclusive: ({ context, event }) => context.exclusive.includes(generationOf(event)),
    isStaleDial: ({ context, event }) => generationOf(event) === context.dialing && context.isStale,
    isAborted: ({ context, event }) => generationOf(event) === context.dialing && codeOf(event) === undefined,
    isPermanent: ({ context, event }) => generationOf(event) === context.dialing && isPermanent(event, context),
    isExclusiveFailure: ({ context, event }) => context.exclusive.includes(generationOf(event)) && hasFailed(event),
    isExclusiveBar: ({ context, event }) => context.exclusive.includes(generationOf(event)) && isPermanent(event, context),
    isHostKey: ({ context, event }) => generationOf(event) === context.dialing && codeOf(event) === 'ERR_HOST_KEY',
    isWanted: ({ context }) => context.isWanted,
    isWantedInVain: ({ context }) => context.isWanted && context.stuck.length >= MAX_STUCK,
    hasTooManyStuck: ({ context }) => context.stuck.length >= MAX_STUCK,
    isForcedInVain: ({ context }) => context.isForced && context.stuck.length >= MAX_STUCK,
    isForced: ({ context }) => context.isForced,
    isBarred: ({ context }) => context.isBarred,
    isOverdue: ({ context }) => context.isOverdue,
    mustGo: ({ context }) => context.mustGo,
    mustGoNow: ({ context, event }) => generationOf(event) === context.dialing && context.mustGo,
    isEmpty: ({ context }) => context.live.length === 0,
    /** A standing endpoint knows it. */
    isKept: () => false,
    /** The first redial after a loss is immediate; one that opens and ends again and again would be dialled without end. */
    isVain: ({ context }) => context.vain > 1,
    /** Unless many tunnels of the pool were lost at once: then redials are spread. */
    mayDialNow: () => true,
    /** A successor needs a place beside the generation that it follows. */
    hasNoRoom: () => false,
    /** Nobody holds a lease of the current tunnel. */
    isIdle: () => false,
  },
  delays: {
    spread: 250,
    pause: ({ context }) => restAfter(context.vain - 1, context.times),
    rest: ({ context }) => context.restMillis,
    hush: HUSH_MILLIS,
    stable: ({ context }) => context.times.backoffMaxMillis,
    lifetime: ({ context }) => context.times.maxLifetimeMillis,
    /** Between one successor that did not open and the next, when the current one is overdue. */
    again: ({ context }) =>
      context.isOverdue ? Math.max(HUSH_MILLIS, context.times.backoffMaxMillis) : Number.POSITIVE_INFINITY,
    barredRetry: ({ context }) => context.times.barredRetryMillis,
    forget: FORGET_MILLIS,
  },
})
