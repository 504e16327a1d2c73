import type { Row } from '../demo/row.ts'
import type { painter } from '../demo/table.ts'

/** A row, and what the monitor thinks of it. */
export interface Watched {
  readonly row: Row
  /** `undefined`: not known yet. */
  healthy: boolean | undefined
  since: Date
}

const ago = (since: Date): string => {
  const seconds = Math.max(0, Math.round((Date.now() - since.getTime()) / 1_000))
  if (seconds < 120) return `${seconds} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}

/** The unhealthy first, then those that are not known, then the others; each in the order of the file. */
const order = ({ healthy }: Watched) => (healthy === false ? 0 : healthy === undefined ? 1 : 2)

/** Draws as many rows as fit; what does not fit is counted. The table library is loaded only when there is something to draw. */
export async function watchTable(): Promise<
  (watched: readonly Watched[], paint: ReturnType<typeof painter>, size: { width: number; rows: number }) => string
> {
  const { default: Table } = await import('cli-table3')
  return (watched, paint, { width, rows }) => {
    const shown = watched.toSorted((a, b) => order(a) - order(b)).slice(0, rows)
    const nameWidth = Math.min(44, Math.max(8, ...shown.map(({ row }) => row.name.length)) + 2)
    const table = new Table({
      head: ['target', 'is', 'for', 'latency', 'last checks', 'why'].map((name) => paint('bold', name)),
      colWidths: [nameWidth, 11, 9, 11, 14, Math.max(20, width - nameWidth - 46)],
      colAligns: ['left', 'left', 'right', 'right', 'right', 'left'],
      style: { head: [], border: [], compact: true },
      chars: Object.fromEntries(
        ['top', 'bottom', 'left', 'mid', 'right']
          .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
          .concat('middle', 'mid-mid')
          .map((name) => [name, '']),
      ),
    })
    for (const { row, healthy, since } of shown) {
      const style = healthy === undefined ? 'gray' : healthy ? 'green' : 'red'
      const word = healthy === undefined ? 'unknown' : healthy ? 'healthy' : 'unhealthy'
      const latency = row.latencyMillis === undefined ? '—' : `${row.latencyMillis.toFixed(1)} ms`
      table.push([row.name, paint(style, word), ago(since), latency, row.sparkline, paint(style, row.reason)])
    }
    const hidden = watched.length - shown.length
    return hidden > 0 ? `${table.toString()}\n… and ${hidden} more` : table.toString()
  }
}
