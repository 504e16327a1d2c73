import { tracingChannel } from 'node:diagnostics_channel'

const CHANNELS = { acquire: tracingChannel('ssh-warren:acquire'), dial: tracingChannel('ssh-warren:dial') }

/** What subscribers are told of an operation: names and counts. A rejection is added as `error`, by Node. */
export interface Traced {
  readonly destination: string
  readonly label?: string | undefined
  readonly generation?: number | undefined
  readonly transport?: string | undefined
}

/** Whether anybody follows these operations; asked first, so that nothing is made for nobody. */
export function isTraced(name: keyof typeof CHANNELS): boolean {
  const { start, end, asyncStart, asyncEnd, error } = CHANNELS[name]
  return [start, end, asyncStart, asyncEnd, error].some((channel) => channel.hasSubscribers)
}

/** Runs an operation within the tracing channel `ssh-warren:<name>`. What it brings is not published: only that it came. */
export async function traced<T>(name: keyof typeof CHANNELS, context: Traced, run: () => Promise<T>): Promise<T> {
  const brought: T[] = []
  await CHANNELS[name].tracePromise(async () => void brought.push(await run()), { ...context })
  return brought[0] as T
}
