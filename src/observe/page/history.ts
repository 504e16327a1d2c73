import type { Sample } from '../inspector/wire.ts'
import { byId, setText, svg } from './dom.ts'
import { many, span } from './words.ts'

const MOST = 300
const WIDTH = 600
const HEIGHT = 56
const TICKS = 8
const LAYERS = ['open', 'opening', 'draining'] as const

/** Tunnels over the last ten minutes, and a tick for each moment in which some were lost or failed. */
export class HistoryChart {
  readonly #samples: Sample[] = []

  start(samples: readonly Sample[]): void {
    this.#samples.splice(0, this.#samples.length, ...samples)
    this.#draw()
  }

  add(sample: Sample): void {
    if (sample.at <= (this.#samples.at(-1)?.at ?? 0)) return
    this.#samples.push(sample)
    if (this.#samples.length > MOST) this.#samples.shift()
    this.#draw()
  }

  #draw(): void {
    const samples = this.#samples
    const [first] = samples
    const last = samples.at(-1)
    if (first === undefined || last === undefined) return
    const highest = Math.max(1, ...samples.map(({ open, opening, draining }) => open + opening + draining))
    const length = Math.max(60_000, last.at - first.at)
    const x = ({ at }: Sample) => WIDTH - ((last.at - at) / length) * WIDTH
    const y = (count: number) => HEIGHT - TICKS - (count / highest) * (HEIGHT - TICKS - 4)
    const chart = svg('svg', {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': `${last.open} tunnels open; at most ${highest} in the last ${span(length)}`,
    })
    const below = samples.map(() => 0)
    for (const layer of LAYERS) {
      const above = samples.map((sample, index) => (below[index] ?? 0) + sample[layer])
      const up = samples.map((sample, index) => `${x(sample).toFixed(1)} ${y(above[index] ?? 0).toFixed(1)}`)
      const down = samples.map((sample, index) => `${x(sample).toFixed(1)} ${y(below[index] ?? 0).toFixed(1)}`).reverse()
      chart.append(svg('path', { class: layer, d: `M${[...up, ...down].join('L')}Z` }))
      above.forEach((count, index) => {
        below[index] = count
      })
    }
    chart.append(svg('path', { class: 'axis', d: `M0 ${HEIGHT - TICKS + 0.5}H${WIDTH}` }))
    const bad = samples.filter(({ lost, failed }) => lost + failed > 0)
    const ticks = bad.map((sample) => `M${x(sample).toFixed(1)} ${HEIGHT - TICKS + 2}V${HEIGHT}`).join('')
    if (ticks !== '') chart.append(svg('path', { class: 'ticks', d: ticks }))
    byId('history').replaceChildren(chart)
    const troubles = bad.reduce((sum, { lost, failed }) => sum + lost + failed, 0)
    setText(
      byId('history-caption'),
      `Tunnels, last ${span(length)}; peak ${many(highest)}${troubles > 0 ? `; ${many(troubles)} lost or failed` : ''}`,
    )
  }
}
