import { styleText } from 'node:util'
import type { Row } from './row.ts'

type Style = Parameters<typeof styleText>[0]
type Paint = (style: Style, text: string) => string

/** Colours for a terminal that wants them (no-color.org). */
export const painter = (isColoured: boolean): Paint => (isColoured ? (style, text) => styleText(style, text) : (_, text) => text)

const styleOf = ({ state, isWell }: Row): Style => {
  if (state === 'barred') return 'red'
  if (!isWell) return 'yellow'
  return state === 'serving' ? 'green' : 'gray'
}

/** The table library, loaded only when there is something to draw. */
export async function tableMaker(): Promise<(rows: readonly Row[], paint: Paint) => string> {
  const { default: Table } = await import('cli-table3')
  return (rows, paint) => {
    const table = new Table({
      head: ['host', 'state', 'latency', 'last checks', 'gen', 'leases', 'reason'].map((name) => paint('bold', name)),
      colWidths: [9, 10, 11, 14, 5, 8, 42],
      colAligns: ['left', 'left', 'right', 'right', 'right', 'right', 'left'],
      style: { head: [], border: [], compact: true },
      chars: Object.fromEntries(
        [
          'top',
          'top-mid',
          'top-left',
          'top-right',
          'bottom',
          'bottom-mid',
          'bottom-left',
          'bottom-right',
          'left',
          'left-mid',
          'mid',
          'mid-mid',
          'right',
          'right-mid',
          'middle',
        ].map((name) => [name, '']),
      ),
    })
    for (const row of rows) {
      const style = styleOf(row)
      const latency = row.latencyMillis === undefined ? '—' : `${row.latencyMillis.toFixed(1)} ms`
      table.push([
        row.name,
        paint(style, row.state),
        latency,
        row.sparkline,
        row.generation || '—',
        row.leases,
        paint(style, row.reason),
      ])
    }
    return table.toString()
  }
}
