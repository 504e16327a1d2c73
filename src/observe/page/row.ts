import { el, setText } from './dom.ts'
import { meaningOf } from './meanings.ts'
import type { Line } from './store.ts'
import { many, span, stateName, topOf } from './words.ts'

interface Texts {
  readonly name: string
  readonly label: string
  readonly state: string
  readonly colour: string
  readonly leases: string
  readonly since: string
  readonly why: string
}

/** What a tunnel that ends says of it; one that serves says nothing. */
const WHY: Readonly<Record<string, string>> = { lost: 'lost', idle: 'idle', retired: 'retired' }

function textsOf(line: Line, now: number, total: number): Texts {
  if (line.kind === 'pool')
    return { name: 'Pool', label: `${many(total)} destinations`, state: '', colour: '', leases: '', since: '', why: '' }
  const { row } = line
  if (line.kind === 'tunnel') {
    const { generation, state, since, leases, reason, code } = line.tunnel
    const why = code === undefined ? (reason === undefined ? '' : (WHY[reason] ?? reason)) : meaningOf(code)
    return {
      name: `generation ${generation}`,
      label: '',
      state: state.split('.').slice(0, 2).join(' · '),
      colour: topOf(state),
      leases: leases === 0 ? '' : String(leases),
      since: span(now - since),
      why,
    }
  }
  const leases = row.tunnels.reduce((sum, tunnel) => sum + tunnel.leases, 0)
  return {
    name: row.label ?? row.id,
    label: row.label === undefined ? '' : row.id,
    state: stateName(row.state),
    colour: topOf(row.state),
    leases: leases === 0 ? '' : String(leases),
    since: span(now - row.since),
    why: row.code === undefined ? '' : meaningOf(row.code),
  }
}

/** One line of the tree on the screen; used again for whatever scrolls into its place. */
export class Row {
  readonly element = el('div', { role: 'treeitem', class: 'row' })
  readonly #fold = el('span', { class: 'fold', 'aria-hidden': 'true' })
  readonly #name = el('span', { class: 'name' })
  readonly #label = el('span', { class: 'label' })
  readonly #state = el('span', { class: 'state' })
  readonly #leases = el('span', { class: 'number leases' })
  readonly #since = el('span', { class: 'number since' })
  readonly #why = el('span', { class: 'why' })

  constructor() {
    const who = el('span', { class: 'who' }, this.#name, this.#label)
    this.element.append(this.#fold, who, this.#state, this.#leases, this.#since, this.#why)
  }

  show(line: Line, index: number, { top, isSelected, total }: { top: number; isSelected: boolean; total: number }): void {
    const { element } = this
    const texts = textsOf(line, Date.now(), total)
    element.id = `line-${index}`
    element.style.transform = `translateY(${top}px)`
    element.dataset.kind = line.kind
    element.dataset.state = texts.colour
    element.dataset.index = String(index)
    element.setAttribute('aria-level', line.kind === 'pool' ? '1' : line.kind === 'destination' ? '2' : '3')
    element.setAttribute('aria-selected', String(isSelected))
    const canFold = line.kind === 'destination' && line.row.tunnels.length > 0
    if (canFold) element.setAttribute('aria-expanded', String(line.isOpen))
    else element.removeAttribute('aria-expanded')
    setText(this.#fold, canFold ? (line.isOpen ? '▾' : '▸') : '')
    setText(this.#name, texts.name)
    setText(this.#label, texts.label)
    setText(this.#state, texts.state)
    setText(this.#leases, texts.leases)
    setText(this.#since, texts.since)
    setText(this.#why, texts.why)
  }
}
