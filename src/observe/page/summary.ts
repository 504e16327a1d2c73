import { byId, el, redraw } from './dom.ts'
import type { Store } from './store.ts'
import { many, STATES } from './words.ts'

/** How many destinations are in each state, as filters; and what the pool counts. */
export class Summary {
  readonly #store: Store
  readonly #filters = new Map<string, { button: HTMLButtonElement; count: HTMLElement }>()

  constructor(store: Store, changed: () => void) {
    this.#store = store
    for (const state of STATES) {
      const count = el('b', {}, '0')
      const button = el(
        'button',
        { type: 'button', class: 'filter', 'data-state': state, 'aria-pressed': 'false' },
        count,
        el('span', {}, state),
      )
      button.addEventListener('click', () => {
        if (!store.states.delete(state)) store.states.add(state)
        byId('tree').scrollTop = 0
        changed()
      })
      this.#filters.set(state, { button, count })
      byId('filters').append(button)
    }
  }

  update(): void {
    const counts = this.#store.counts()
    for (const [state, { button, count }] of this.#filters) {
      const number = counts[state] ?? 0
      count.textContent = many(number)
      button.classList.toggle('zero', number === 0)
      button.setAttribute('aria-pressed', String(this.#store.states.has(state)))
    }
    const stats = this.#store.pool?.stats
    if (stats === undefined) return
    const shown = [
      ['leases', stats.leases],
      ['waiting', stats.waiting],
      ['tunnels', stats.tunnels.open],
      ['opening', stats.tunnels.opening],
      ['draining', stats.tunnels.draining],
    ] as const
    redraw(byId('counts'), shown, () =>
      shown.map(([name, count]) => el('div', {}, el('dt', {}, name), el('dd', {}, many(count)))),
    )
  }
}
