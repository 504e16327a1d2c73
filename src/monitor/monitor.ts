import { performance } from 'node:perf_hooks'
import type { CheckFact, HealthCheck, HealthMonitor } from '../api/monitor.ts'
import type { TunnelPool } from '../api/pool.ts'
import { TunnelError } from '../errors.ts'
import { quietly } from '../wait.ts'
import { Lanes } from './lanes.ts'
import { type CheckEvent, Listeners } from './listeners.ts'
import { resolveCheck, resolveMonitorOptions } from './options.ts'
import { Patient } from './patient.ts'
import { Phases } from './phases.ts'
import { Timetable } from './timetable.ts'

/** So much later than planned, the process was stopped or its loop was blocked: what is due by then is spread anew, and not made up for at once. */
const NAP_MILLIS = 1_000

const STOPPED = 'the health monitor was stopped'

class Monitor implements HealthMonitor {
  readonly #pool: TunnelPool
  readonly #patients = new Map<string, Patient>()
  readonly #phases = new Phases()
  readonly #listeners = new Listeners()
  readonly #lanes: Lanes
  readonly #timetable = new Timetable<Patient>((patient, at) => this.#due(patient, at))
  /** Those who wait until a check of the same place is over. */
  readonly #places = new Map<string, Patient[]>()
  readonly #running = new Set<Promise<void>>()
  readonly #counts = { healthy: 0, unhealthy: 0 }
  #lateMillis = 0
  #isStopped = false

  constructor(pool: TunnelPool, maxConcurrent: number) {
    this.#pool = pool
    this.#lanes = new Lanes(maxConcurrent)
  }

  add(check: HealthCheck): void {
    if (this.#isStopped) throw new TunnelError('ERR_POOL_CLOSED', STOPPED)
    const resolved = resolveCheck(check)
    if (this.#patients.has(resolved.id))
      throw new TunnelError('ERR_INVALID_OPTION', `Expected \`id\` of a health check to be unique, got \`${resolved.id}\` twice`)
    // Refuses what is no target and no place, and asks nobody.
    if (resolved.to === undefined) this.#pool.health(resolved.target)
    else this.#pool.agentFor(resolved.target, resolved.to)
    const patient = new Patient(resolved, performance.now() + this.#phases.next(resolved.intervalMillis), this.#run)
    this.#patients.set(resolved.id, patient)
    this.#timetable.add(patient.due, patient)
  }

  remove(id: string): void {
    const patient = this.#patients.get(id)
    if (patient === undefined) return
    this.#patients.delete(id)
    this.#count(patient.verdict.healthy, -1)
    const isNext = patient.stage === 'due' && this.#places.get(patient.place)?.includes(patient) !== true
    const wasRunning = patient.stage === 'running'
    patient.stage = 'removed'
    if (!wasRunning) this.#lanes.leave(patient)
    if (isNext) this.#nextOf(patient.place)
    patient.giveUp(new TunnelError('ERR_ABORTED', 'the check was removed'))
    patient.discharge()
  }

  state(id: string): ReturnType<HealthMonitor['state']> {
    const { healthy, since, lastVerifiedAt } = this.#patients.get(id)?.verdict ?? {}
    if (healthy === undefined || since === undefined || lastVerifiedAt === undefined) return undefined
    return { healthy, since, lastVerifiedAt }
  }

  get stats(): HealthMonitor['stats'] {
    const { healthy, unhealthy } = this.#counts
    const checks = this.#patients.size
    const lagMillis = Math.max(this.#lateMillis, this.#timetable.lateMillis)
    return { checks, healthy, unhealthy, unknown: checks - healthy - unhealthy, lagMillis }
  }

  on(event: CheckEvent, listener: (fact: CheckFact) => void): this {
    this.#listeners.add(event, listener)
    return this
  }

  off(event: CheckEvent, listener: (fact: CheckFact) => void): this {
    this.#listeners.remove(event, listener)
    return this
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timetable.stop()
    for (const id of [...this.#patients.keys()]) this.remove(id)
    await Promise.all(this.#running)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  ref(): this {
    this.#timetable.hold(true)
    return this
  }

  unref(): this {
    this.#timetable.hold(false)
    return this
  }

  /** The time of one has come: to begin, or to be given up if it is running. */
  #due(patient: Patient, at: number): void {
    if (patient.stage === 'running' && at === patient.deadline) patient.timeOut()
    if (patient.stage !== 'waiting' || at !== patient.due) return
    this.#lateMillis = performance.now() - at
    if (this.#lateMillis > NAP_MILLIS) this.#rest(patient)
    else this.#begin(patient)
  }

  /** Its turn comes when no other of its place is examined, and there is a free place in its lane. */
  #begin(patient: Patient): void {
    patient.stage = 'due'
    const line = this.#places.get(patient.place)
    if (line !== undefined) {
      line.push(patient)
      return
    }
    this.#places.set(patient.place, [])
    this.#lanes.enter(patient)
  }

  /** Until its next time. */
  #rest(patient: Patient): void {
    patient.stage = 'waiting'
    patient.advance(performance.now())
    this.#timetable.add(patient.due, patient)
  }

  readonly #run = (patient: Patient): void => {
    patient.stage = 'running'
    patient.deadline = performance.now() + patient.check.timeoutMillis
    this.#timetable.add(patient.deadline, patient)
    const running = this.#examine(patient)
    this.#running.add(running)
    quietly(running.finally(() => this.#running.delete(running)))
  }

  async #examine(patient: Patient): Promise<void> {
    const fact = await patient.examine(this.#pool)
    this.#lanes.leave(patient)
    this.#nextOf(patient.place)
    if ((patient.stage as string) === 'removed') {
      patient.discharge()
      return
    }
    this.#rest(patient)
    if (fact === undefined) return
    if (TunnelError.is(fact.error) && fact.error.code === 'ERR_POOL_CLOSED') {
      quietly(this.stop())
      return
    }
    const before = patient.verdict.healthy
    const hasTurned = patient.verdict.count(fact.ok, patient.check)
    if (hasTurned) {
      this.#count(before, -1)
      this.#count(fact.ok, 1)
    }
    this.#listeners.tell('check', fact)
    if (hasTurned) this.#listeners.tell(fact.ok ? 'healthy' : 'unhealthy', fact)
  }

  #nextOf(place: string): void {
    const line = this.#places.get(place) ?? []
    const next = line.find(({ stage }) => stage === 'due')
    if (next === undefined) this.#places.delete(place)
    else {
      line.splice(0, line.indexOf(next) + 1)
      this.#lanes.enter(next)
    }
  }

  #count(healthy: boolean | undefined, by: 1 | -1): void {
    if (healthy === undefined) return
    this.#counts[healthy ? 'healthy' : 'unhealthy'] += by
  }
}

/**
 * Checks many targets again and again through a pool, each in its own rhythm and all of them evenly spread; one that is slow or dead delays no
 * other. It ends by `stop`, or with the pool; the pool is not its to close.
 *
 * @param options.maxConcurrent checks under way at once; default 1_000
 * @throws TunnelError `ERR_INVALID_OPTION` that names the option
 * @example
 * const monitor = createHealthMonitor(pool, { checks: [{ id: 'gpu-7', target, to: { port: 8080 }, path: '/health' }] })
 * monitor.on('unhealthy', ({ id, tunnel, target, error }) => alert(id, tunnel === 'down' ? 'unreachable' : target, error))
 */
export function createHealthMonitor(
  pool: TunnelPool,
  options: { checks?: readonly HealthCheck[] | undefined; maxConcurrent?: number | undefined } = {},
): HealthMonitor {
  const { checks, maxConcurrent } = resolveMonitorOptions(options)
  const monitor = new Monitor(pool, maxConcurrent)
  try {
    for (const check of checks) monitor.add(check)
  } catch (error) {
    quietly(monitor.stop())
    throw error
  }
  return monitor
}
