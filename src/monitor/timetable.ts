import { performance } from 'node:perf_hooks'
import { Agenda } from './agenda.ts'

/** Node fires a longer timer at once. */
const LONGEST_MILLIS = 2 ** 31 - 1

/** Calls back for each thing at its time, with one timer for all of them. It holds the process unless `unref`'ed. */
export class Timetable<T> {
  readonly #agenda = new Agenda<T>()
  readonly #due: (what: T, at: number) => void
  #timer: NodeJS.Timeout | undefined
  #armedFor = Number.POSITIVE_INFINITY
  #isRef = true
  #isRunning = false

  constructor(due: (what: T, at: number) => void) {
    this.#due = due
  }

  /** How late it is now, ms. */
  get lateMillis(): number {
    return Math.max(0, performance.now() - this.#agenda.next)
  }

  add(at: number, what: T): void {
    this.#agenda.add(at, what)
    if (!this.#isRunning) this.#arm()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isRunning = true
  }

  hold(isRef: boolean): void {
    this.#isRef = isRef
    if (isRef) this.#timer?.ref()
    else this.#timer?.unref()
  }

  #arm(): void {
    const { next } = this.#agenda
    if (next === this.#armedFor && this.#timer !== undefined) return
    clearTimeout(this.#timer)
    this.#armedFor = next
    const wait = Math.min(LONGEST_MILLIS, Math.max(0, next - performance.now()))
    this.#timer = setTimeout(this.#run, Math.ceil(wait))
    if (!this.#isRef) this.#timer.unref()
  }

  readonly #run = (): void => {
    this.#timer = undefined
    this.#isRunning = true
    const now = performance.now()
    for (let item = this.#agenda.take(now); item !== undefined; item = this.#agenda.take(now)) this.#due(item.what, item.at)
    this.#isRunning = false
    this.#arm()
  }
}
