import type { ShownStep } from '../inspector/wire.ts'
import { el } from './dom.ts'

let loaded: Promise<Map<string, SVGSVGElement>> | undefined

async function load(): Promise<Map<string, SVGSVGElement>> {
  const text = await (await fetch('/charts.svg')).text()
  const all = new DOMParser().parseFromString(text, 'image/svg+xml').querySelectorAll<SVGSVGElement>('svg.chart')
  return new Map([...all].map((chart) => [chart.id.replace('chart-', ''), document.importNode(chart, true)]))
}

const isWithin = (state: string, of: string) => state === of || state.startsWith(`${of}.`)

/** One statechart, with the states lit that a machine is in, and the last transition traced. */
export class StateChart {
  readonly element = el('div', { class: 'chart-box', tabindex: '0' })
  #chart: SVGSVGElement | undefined
  #shown = ''
  #last = 0

  constructor(machine: string) {
    loaded ??= load()
    void loaded.then((charts) => {
      const chart = charts.get(machine)?.cloneNode(true) as SVGSVGElement | undefined
      if (chart === undefined) return
      this.#chart = chart
      const anywhere = chart.dataset.anywhere ?? ''
      this.element.replaceChildren(chart)
      if (anywhere !== '') this.element.append(el('p', { class: 'anywhere' }, `From anywhere: ${anywhere}`))
      this.light(this.#shown, this.#step)
    })
  }

  #step: ShownStep | undefined

  /** Shows the state that a machine is in, and how it came there. */
  light(state: string, step: ShownStep | undefined): void {
    const isNew = state !== this.#shown || (step?.at ?? 0) !== this.#last || this.#chart?.dataset.lit !== state
    this.#shown = state
    this.#step = step
    const chart = this.#chart
    if (chart === undefined || !isNew) return
    this.#last = step?.at ?? 0
    chart.dataset.lit = state
    let leaf: Element | undefined = chart.querySelector('.state') ?? undefined
    for (const shape of chart.querySelectorAll<SVGGElement>('.state')) {
      const path = shape.dataset.state ?? ''
      shape.classList.toggle('lit', isWithin(state, path))
      shape.classList.toggle('leaf', path === state)
      if (path === state) leaf = shape
    }
    for (const edge of chart.querySelectorAll<SVGGElement>('.edge')) {
      const { from = '', to = '', events = '' } = edge.dataset
      const isTaken =
        step !== undefined && isWithin(step.from, from) && isWithin(step.to, to) && events.split(' ').includes(step.event)
      edge.classList.toggle('taken', isTaken)
      if (isTaken) chart.append(edge)
    }
    this.#center(leaf)
  }

  #center(leaf: Element | undefined): void {
    if (leaf === undefined) return
    const box = this.element.getBoundingClientRect()
    const at = leaf.getBoundingClientRect()
    this.element.scrollTop += at.top + at.height / 2 - (box.top + box.height / 2)
    this.element.scrollLeft += at.left + at.width / 2 - (box.left + box.width / 2)
  }
}
