import { inspect } from 'node:util'

/** Holds one secret where no log, JSON, inspection or enumeration finds it. */
export class Secret<T extends string | Uint8Array = string> {
  readonly #value: T

  constructor(value: T) {
    this.#value = value
  }

  reveal(): T {
    return this.#value
  }

  toJSON(): string {
    return '[secret]'
  }

  toString(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}
