import { type AnyStateMachine, enqueueActions } from 'xstate'

/** When a sabotaged action or guard throws: at each of its calls, or at that one only. */
export type When = 'always' | number

/** An action or guard of one machine that throws for one destination, and works for all others. */
export class Sabotage {
  readonly #port: number
  readonly #when: When
  #calls = 0
  /** How often it threw. */
  thrown = 0

  constructor(port: number, when: When) {
    this.#port = port
    this.#when = when
  }

  #strike({ context }: { context: { id?: string; destination?: string } }): void {
    if (!(context.destination ?? context.id ?? '').includes(`:${this.#port}#`)) return
    this.#calls += 1
    if (this.#when !== 'always' && this.#when !== this.#calls) return
    this.thrown += 1
    throw new Error('sabotage')
  }

  /** The machine with that one action replaced. */
  action<M extends AnyStateMachine>(machine: M, name: string): M {
    const usual = `the usual ${name}`
    const replaced = enqueueActions((args, params) => {
      this.#strike(args as never)
      args.enqueue({ type: usual, params } as never)
    })
    const { actions } = machine.implementations
    return machine.provide({ actions: { [usual]: actions[name], [name]: replaced } } as never) as M
  }

  /** The machine with that one guard replaced. */
  guard<M extends AnyStateMachine>(machine: M, name: string): M {
    const usual = machine.implementations.guards[name] as (args: unknown, params: unknown) => boolean
    const replaced = (args: never, params: never) => {
      this.#strike(args)
      return usual(args, params)
    }
    return machine.provide({ guards: { [name]: replaced } } as never) as M
  }
}
