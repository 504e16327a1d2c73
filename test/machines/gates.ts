import { fromPromise } from 'xstate'

/** One call of an actor that waits to be told how it ends. */
export interface Gate<Input, Output> {
  readonly input: Input
  readonly signal: AbortSignal
  open(output: Output): void
  fail(error: unknown): void
}

/** An actor whose every call is a gate, in the order in which they were called. */
export class Gates<Input, Output> {
  readonly calls: Gate<Input, Output>[] = []

  get logic() {
    return fromPromise<Output, Input>(
      ({ input, signal }) =>
        new Promise<Output>((open, fail) => {
          this.calls.push({ input, signal, open, fail })
        }),
    )
  }

  /** The latest call of those that `which` picks. */
  last(which: (input: Input) => boolean = () => true): Gate<Input, Output> {
    const call = this.calls.filter(({ input }) => which(input)).at(-1)
    if (call === undefined) throw new Error('not called')
    return call
  }
}

/** All that promises bring is done. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A state's value as a path. */
export function pathOf(value: unknown): string {
  if (typeof value === 'string') return value
  const [name, inner] = Object.entries(value as object)[0] ?? ['', '']
  return `${name}.${pathOf(inner)}`
}

/** What fails with a code of ours. */
export const failure = (code: string) => Object.assign(new Error(code), { code })
