import type { Agent } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { CheckFact } from '../api/monitor.ts'
import type { TunnelPool } from '../api/pool.ts'
import { TunnelError } from '../errors.ts'
import { examine } from './examine.ts'
import type { Runner } from './lanes.ts'
import type { ResolvedCheck } from './options.ts'
import { Verdict } from './verdict.ts'

/** Who takes longer than this is not given a place beside those that are quick. */
const SLOW_MILLIS = 500

/** What is in the way of a second run, or of none: `waiting` for its time, `due` and waiting for a place, `running`, `removed`. */
export type Stage = 'waiting' | 'due' | 'running' | 'removed'

/** Targets that are told apart by where they lead and how; a host behind another bastion is another host. */
const placeOf = ({ target }: ResolvedCheck): string => {
  const hops = [...(target.jumps ?? []), target].map(({ host, port, user }) => `${user}@${host}:${port}`)
  return `${hops.join('>')} ${target.hostKeyAlias}`
}

/** One check in the monitor: when it is due, how it went. */
export class Patient implements Runner {
  readonly check: ResolvedCheck
  /** Of one place, only one is examined at a time. */
  readonly place: string
  readonly verdict = new Verdict()
  readonly run: () => void
  stage: Stage = 'waiting'
  isSuspect = true
  /** Monotonic, ms: when it is or was to begin. */
  due: number
  /** Monotonic, ms: when it is given up, while it runs. */
  deadline = Number.POSITIVE_INFINITY
  /** The same, of the first time that it could not be made. */
  #owedSince: number | undefined
  #agent: Agent | undefined
  #controller: AbortController | undefined
  #isAsking = false

  constructor(check: ResolvedCheck, due: number, run: (patient: Patient) => void) {
    this.check = check
    this.place = placeOf(check)
    this.due = due
    this.run = () => run(this)
  }

  /** The next time in its own rhythm that is still to come. */
  advance(now: number): void {
    const { intervalMillis } = this.check
    this.due += Math.max(1, Math.ceil((now - this.due) / intervalMillis)) * intervalMillis
  }

  /** It is not wanted any more. */
  giveUp(error: TunnelError): void {
    this.#controller?.abort(error)
  }

  /** Its time is up. A wait for a lease is bounded by itself, and then knows what it waited for. */
  timeOut(): void {
    if (!this.#isAsking) return
    const { id, timeoutMillis } = this.check
    this.giveUp(new TunnelError('ERR_CHANNEL_TIMEOUT', `${id}: no answer within ${timeoutMillis} ms`, { phase: 'channel' }))
  }

  /** Examines it, once; `undefined`: nothing was found out about it. Never rejects. */
  async examine(pool: TunnelPool): Promise<CheckFact | undefined> {
    const began = performance.now()
    const { id } = this.check
    this.#controller = new AbortController()
    const means = {
      agent: () => this.#useAgent(pool),
      signal: this.#controller.signal,
      asking: () => {
        this.#isAsking = true
        if (performance.now() >= this.deadline) this.timeOut()
      },
    }
    const finding = await examine(pool, this.check, means).catch((error) => ({
      ...({ ok: false, tunnel: 'down', target: 'unknown' } as const),
      error,
    }))
    this.#controller = undefined
    this.#isAsking = false
    const took = performance.now() - began
    this.isSuspect = finding?.ok !== true || took > SLOW_MILLIS
    const owed = this.#owedSince ?? this.due
    this.#owedSince = finding === undefined ? owed : undefined
    if (finding === undefined) return undefined
    const { ok, tunnel, target, error } = finding
    return { id, ok, tunnel, target, latencyMillis: ok ? took : undefined, lateMillis: Math.max(0, began - owed), error }
  }

  /** Its sockets go. */
  discharge(): void {
    this.#agent?.destroy()
    this.#agent = undefined
  }

  #useAgent(pool: TunnelPool): Agent {
    this.#agent ??= pool.agentFor(this.check.target, this.check.to, { maxSockets: 1, maxFreeSockets: 1 })
    return this.#agent
  }
}
