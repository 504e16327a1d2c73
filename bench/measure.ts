import { appendFileSync, readFileSync } from 'node:fs'

/** One line of the results. */
export interface Row {
  readonly bench: string
  readonly measure: string
  /** In words and units, as people read it. */
  readonly value: string
  /** Against what, side by side in the same run. */
  readonly ratio?: string | undefined
  readonly goal?: string | undefined
  readonly isMet?: boolean | undefined
  /** For the chart: HTTP checks per second and CPU of the whole client side per check, ms. */
  readonly chart?: { readonly perSecond: number; readonly cpuMillis: number } | undefined
}

/** Shows progress; results go to standard output and, when the runner asks, to its file. */
export const progress = (text: string): void => void process.stderr.write(`  ${text}\n`)

export function report(row: Row): void {
  const verdict = row.goal === undefined ? '' : ` (goal ${row.goal}: ${row.isMet === true ? 'met' : 'missed'})`
  process.stdout.write(`${row.bench}: ${row.measure}: ${row.value}${row.ratio === undefined ? '' : `, ${row.ratio}`}${verdict}\n`)
  const file = process.env.WARREN_BENCH_ROWS
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`)
}

export const quantile = (values: readonly number[], q: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN
export const median = (values: readonly number[]): number => quantile(values, 0.5)
export const millis = (value: number): string =>
  `${value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toFixed(3)} ms`
export const times = (value: number): string => (value >= 10 ? `${Math.round(value)}×` : `${value.toFixed(2)}×`)

const MILLIS_PER_TICK = 10

/** CPU of another process, ms, by the kernel's ticks of 10 ms; 0 when it is gone. */
export function cpuOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * MILLIS_PER_TICK
  } catch {
    return 0
  }
}

/** CPU of this process and of the children it has waited for, ms. */
export function ownCpu(): number {
  const { user, system } = process.cpuUsage()
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  return (user + system) / 1_000 + (Number(fields[13]) + Number(fields[14])) * MILLIS_PER_TICK
}

/** Heap and resident memory after the collector has had its way, bytes. */
export async function settledMemory(): Promise<NodeJS.MemoryUsage> {
  for (let turn = 0; turn < 4; turn += 1) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return process.memoryUsage()
}
