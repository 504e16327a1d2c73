import type { ShownDestination, ShownDetail, ShownPool, ShownStep } from '../inspector/wire.ts'
import { StateChart } from './charts.ts'
import { el, redraw } from './dom.ts'
import { meaningOf, remedyOf } from './meanings.ts'
import { leaseLines, ledgerLines, tunnelLines, waitingLines } from './sections.ts'
import { timeline } from './timeline.ts'
import { clockTime, span, stateName, topOf } from './words.ts'

const section = (title: string, ...children: readonly Node[]) =>
  el('section', { class: 'block' }, el('h3', {}, title), ...children)

function lastStep(steps: readonly ShownStep[], of: ShownStep['of']): ShownStep | undefined {
  return steps.findLast((step) => step.of === of)
}

function stepLines(steps: readonly ShownStep[]): Node[] {
  return steps
    .slice(-8)
    .reverse()
    .map(({ at, of, from, to, event }) =>
      el(
        'li',
        {},
        el('time', {}, clockTime(at)),
        el('span', { class: 'step' }, `${typeof of === 'number' ? `generation ${of}` : of}: ${from} → ${to}`),
        el('code', {}, event.replace(/^xstate\.(after|done|error)\.([^.]*).*/, '$1 $2')),
      ),
    )
}

/** One destination: what it is at and why, its generations, its past, who holds it, what it holds, and its statecharts. */
export class DestinationDetail {
  readonly element = el('div', { class: 'body' })
  readonly id: string
  readonly #head = el('div', { class: 'head' })
  readonly #tunnels = el('div', { class: 'tunnels' })
  readonly #leases = el('ul', { class: 'lines' })
  readonly #ledger = el('ul', { class: 'lines' })
  readonly #waiting = el('ul', { class: 'lines' })
  readonly #timeline = el('ol', { class: 'timeline' })
  readonly #steps = el('ol', { class: 'steps' })
  readonly #tunnelChart = new StateChart('tunnel')
  readonly #destinationChart = new StateChart('destination')
  readonly #tabs: HTMLElement
  /** Until somebody chooses, the machine is shown in which something is going on. */
  #hasChosen = false

  constructor(id: string) {
    this.id = id
    const tab = (name: 'tunnel' | 'destination', text: string) => {
      const button = el('button', { type: 'button', role: 'tab', 'data-tab': name }, text)
      button.addEventListener('click', () => {
        this.#hasChosen = true
        this.#show(name)
      })
      return button
    }
    this.#tabs = el('div', { class: 'tabs', role: 'tablist' }, tab('tunnel', 'Tunnel'), tab('destination', 'Destination'))
    this.element.append(
      this.#head,
      section('Generations', this.#tunnels),
      el('div', { class: 'pair' }, section('Leases', this.#leases, this.#waiting), section('Ledger', this.#ledger)),
      section('Timeline', this.#timeline),
      section('Statecharts', this.#tabs, this.#tunnelChart.element, this.#destinationChart.element, this.#steps),
    )
    this.#show('tunnel')
  }

  /** Shows what is known now; `row` is `undefined` when the destination has left. */
  update(row: ShownDestination | undefined, detail: ShownDetail | undefined): void {
    const now = Date.now()
    redraw(this.#head, [row, row === undefined ? 0 : span(now - row.since), Math.ceil(((row?.retryAt ?? 0) - now) / 1_000)], () =>
      headOf(this.id, row, now),
    )
    if (detail === undefined) return
    const second = Math.floor(now / 1_000)
    const tunnels = row?.tunnels ?? []
    redraw(this.#tunnels, [tunnels, second], () => tunnelLines(tunnels, detail.facts, now))
    redraw(this.#timeline, detail.facts, () => timeline(detail.facts))
    redraw(this.#leases, [detail.leases, second], () => leaseLines(detail.leases, now))
    redraw(this.#waiting, [detail.waiting, second], () => waitingLines(detail.waiting, now))
    redraw(this.#ledger, [detail.resources, second], () => ledgerLines(detail.resources, now))
    redraw(this.#steps, detail.steps, () => stepLines(detail.steps))
    if (!this.#hasChosen) this.#show(tunnels.length > 0 ? 'tunnel' : 'destination')
    const newest = tunnels.at(-1)
    const last = detail.steps.findLast(({ of }) => typeof of === 'number')
    const shown = newest ?? (last === undefined ? undefined : { generation: last.of as number, state: last.to })
    this.#tunnelChart.light(shown?.state ?? '', shown && lastStep(detail.steps, shown.generation))
    this.#destinationChart.light(row?.state ?? 'left', lastStep(detail.steps, 'destination'))
  }

  #show(name: 'tunnel' | 'destination'): void {
    for (const button of this.#tabs.querySelectorAll('button'))
      button.setAttribute('aria-selected', String(button.dataset.tab === name))
    this.#tunnelChart.element.hidden = name !== 'tunnel'
    this.#destinationChart.element.hidden = name !== 'destination'
  }
}

function headOf(id: string, row: ShownDestination | undefined, now: number): Node[] {
  if (row === undefined) return [el('h2', {}, id), el('p', { class: 'lead' }, 'It has left the pool.')]
  const retry = row.retryAt === undefined ? undefined : row.retryAt - now
  const isBarred = topOf(row.state) === 'barred'
  const again =
    isBarred || retry === undefined || retry > 864e5
      ? undefined
      : retry > 0
        ? `next dial in ${span(retry)}`
        : 'dialled when asked for'
  return [
    el('h2', {}, row.label ?? id, row.label !== undefined && el('span', { class: 'label' }, id)),
    el(
      'p',
      { class: 'lead' },
      el('span', { class: 'pill', 'data-state': topOf(row.state) }, stateName(row.state)),
      ` for ${span(now - row.since)}`,
      row.failures > 0 && ` · ${row.failures} failed dial${row.failures === 1 ? '' : 's'} in a row`,
      again !== undefined && ` · ${again}`,
    ),
    row.code === undefined
      ? el('div', {})
      : el(
          'div',
          { class: 'cause', 'data-state': topOf(row.state) },
          el('strong', {}, meaningOf(row.code)),
          el('code', {}, row.code),
          el('p', {}, remedyOf(row.code)),
        ),
  ]
}

/** The pool itself: what nobody has selected anything of. */
export class PoolDetail {
  readonly element = el('div', { class: 'body' })
  readonly #head = el('div', { class: 'head' })
  readonly #totals = el('dl', { class: 'totals' })
  readonly #chart = new StateChart('pool')
  readonly #steps = el('ol', { class: 'steps' })

  constructor() {
    this.element.append(
      this.#head,
      section('Since it was made', this.#totals),
      section('Statechart', this.#chart.element, this.#steps),
    )
  }

  update(pool: ShownPool | undefined): void {
    if (pool === undefined) return
    const { stats, state } = pool
    redraw(this.#head, [state], () => [
      el('h2', {}, 'Pool'),
      el(
        'p',
        { class: 'lead' },
        el('span', { class: 'pill', 'data-state': state }, state),
        ' Select a destination to see its life.',
      ),
    ])
    const totals = [
      ['Tunnels opened', stats.opened],
      ['closed', stats.closed],
      ['of them lost', stats.lost],
      ['Dials failed', stats.failed],
    ] as const
    redraw(this.#totals, totals, () =>
      totals.map(([name, count]) => el('div', {}, el('dt', {}, name), el('dd', {}, count.toLocaleString('en-US')))),
    )
    redraw(this.#steps, pool.steps, () => stepLines(pool.steps))
    this.#chart.light(state, pool.steps.at(-1))
  }
}
