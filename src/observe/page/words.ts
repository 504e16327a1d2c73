/** The top states of a destination, in the order in which they are shown. */
export const STATES = ['serving', 'dialing', 'resting', 'barred', 'dormant', 'leaving'] as const
export type State = (typeof STATES)[number]

export const topOf = (state: string): string => state.split('.')[0] ?? state

/** `serving` of `serving.steady`, `serving · succeeding` of `serving.succeeding.opening`: what is ordinary is not said. */
export function stateName(state: string): string {
  const [top = '', ...rest] = state.split('.')
  const inner = rest.filter((name) => !['steady', 'hushed', 'ready', 'shut'].includes(name))
  return [top, ...inner.slice(0, 1)].join(' · ')
}

/** A length of time in its two largest units. */
export function span(millis: number): string {
  const seconds = Math.max(0, Math.round(millis / 1_000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return minutes < 10 && seconds % 60 > 0 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** A short duration: `0.4 ms`, `12 ms`, `1.3 s`. */
export function short(millis: number): string {
  if (millis < 10) return `${millis.toFixed(1)} ms`
  return millis < 1_000 ? `${Math.round(millis)} ms` : `${(millis / 1_000).toFixed(1)} s`
}

export const clockTime = (at: number): string => new Date(at).toLocaleTimeString('en-GB')
export const many = (count: number): string => count.toLocaleString('en-US')
