import { byId } from './dom.ts'
import { Row } from './row.ts'
import type { Line, Store } from './store.ts'

/** Lines drawn above and below what is seen. */
const MARGIN = 6

/** `pool`, or a destination's id. */
export type Selection = string

const selectionOf = (line: Line): Selection => (line.kind === 'pool' ? 'pool' : line.row.id)
const nameOf = (line: Line): string => (line.kind === 'tunnel' ? `${line.row.id} ${line.tunnel.generation}` : selectionOf(line))

/** The pool as one tree, of which only the lines in sight exist. */
export class Tree {
  readonly #store: Store
  readonly #box = byId('tree')
  readonly #rows = byId('rows')
  readonly #pool: Row[] = []
  readonly #selected: (selection: Selection, isMeant: boolean) => void
  #lines: Line[] = []
  #at = 'pool'

  /** `selected` hears what is looked at; `isMeant` when it was asked for by Enter or a click, and not only passed. */
  constructor(store: Store, selected: (selection: Selection, isMeant: boolean) => void) {
    this.#store = store
    this.#selected = selected
    this.#box.addEventListener('scroll', () => this.draw(), { passive: true })
    new ResizeObserver(() => this.draw()).observe(this.#box)
    this.#box.addEventListener('click', (event) => this.#click(event.target as HTMLElement))
    this.#box.addEventListener('keydown', (event) => this.#key(event))
  }

  /** Takes what is in the store now. */
  update(): void {
    this.#lines = this.#store.lines()
    this.#rows.style.height = `${this.#lines.length * this.#height}px`
    this.draw()
  }

  get isEmpty(): boolean {
    return this.#lines.length < 2
  }

  select(selection: Selection): void {
    this.#at = selection
    this.draw()
  }

  focus(): void {
    this.#box.focus()
  }

  draw(): void {
    const height = this.#height
    const { scrollTop, clientHeight } = this.#box
    const first = Math.max(0, Math.floor(scrollTop / height) - MARGIN)
    const last = Math.min(this.#lines.length, Math.ceil((scrollTop + clientHeight) / height) + MARGIN)
    for (let index = first; index < last; index += 1) {
      const line = this.#lines[index]
      const row = this.#rowAt(index - first)
      if (line === undefined) continue
      row.show(line, index, { top: index * height, isSelected: nameOf(line) === this.#at, total: this.#store.rows.size })
    }
    for (const { element } of this.#pool.splice(Math.max(0, last - first))) element.remove()
    const at = this.#lines.findIndex((line) => nameOf(line) === this.#at)
    if (at >= first && at < last) this.#box.setAttribute('aria-activedescendant', `line-${at}`)
    else this.#box.removeAttribute('aria-activedescendant')
  }

  get #height(): number {
    return Number.parseFloat(getComputedStyle(this.#box).getPropertyValue('--row'))
  }

  #rowAt(place: number): Row {
    const known = this.#pool[place]
    if (known !== undefined) return known
    const row = new Row()
    this.#pool[place] = row
    this.#rows.append(row.element)
    return row
  }

  #click(target: HTMLElement): void {
    const index = Number(target.closest<HTMLElement>('.row')?.dataset.index ?? -1)
    const line = this.#lines[index]
    if (line === undefined) return
    if (target.classList.contains('fold') && line.kind === 'destination') this.#fold(line, !line.isOpen)
    else this.#go(index, true)
  }

  #key(event: KeyboardEvent): void {
    const at = Math.max(
      0,
      this.#lines.findIndex((line) => nameOf(line) === this.#at),
    )
    const page = Math.max(1, Math.floor(this.#box.clientHeight / this.#height) - 1)
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      j: at + 1,
      k: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: this.#lines.length - 1,
    }
    const to = moves[event.key]
    const line = this.#lines[at]
    if (to !== undefined) this.#go(Math.min(this.#lines.length - 1, Math.max(0, to)), false)
    else if (event.key === 'Enter') this.#go(at, true)
    else if (event.key === 'ArrowRight' && line?.kind === 'destination') this.#fold(line, true)
    else if (event.key === 'ArrowLeft' && line !== undefined && line.kind !== 'pool') this.#fold(line, false)
    else return
    event.preventDefault()
  }

  #fold(line: Exclude<Line, { kind: 'pool' }>, isOpen: boolean): void {
    this.#store.fold(line.row.id, isOpen)
    this.#at = line.row.id
    this.update()
    this.#selected(line.row.id, false)
  }

  #go(index: number, isMeant: boolean): void {
    const line = this.#lines[index]
    if (line === undefined) return
    this.#at = nameOf(line)
    const height = this.#height
    const { scrollTop, clientHeight } = this.#box
    if (index * height < scrollTop) this.#box.scrollTop = index * height
    else if ((index + 1) * height > scrollTop + clientHeight) this.#box.scrollTop = (index + 1) * height - clientHeight
    this.draw()
    this.#selected(selectionOf(line), isMeant)
  }
}
