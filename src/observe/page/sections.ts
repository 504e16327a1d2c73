import type { ShownDetail, ShownFact, ShownTunnel } from '../inspector/wire.ts'
import { el } from './dom.ts'
import { meaningOf } from './meanings.ts'
import { phaseBar } from './timeline.ts'
import { span } from './words.ts'

const none = (text: string) => [el('li', { class: 'none' }, text)]

/** Each generation that is alive: its state since when, and how long its opening took. */
export function tunnelLines(tunnels: readonly ShownTunnel[], facts: readonly ShownFact[], now: number): Node[] {
  if (tunnels.length === 0) return [el('p', { class: 'none' }, 'None is open.')]
  return tunnels.map(({ generation, state, since, leases, code, reason }) => {
    const opened = facts.find((fact) => fact.name === 'tunnel.opened' && fact.generation === generation)
    const why = code === undefined ? reason : meaningOf(code)
    return el(
      'div',
      { class: 'tunnel' },
      el(
        'p',
        {},
        el('strong', {}, `#${generation}`),
        el('span', { class: 'pill', 'data-state': state.split('.')[0] }, state.split('.').slice(0, 2).join(' · ')),
        el('span', { class: 'aside' }, `for ${span(now - since)}`),
        leases > 0 && el('span', { class: 'aside' }, `${leases} lease${leases === 1 ? '' : 's'}`),
        why !== undefined && el('span', { class: 'aside' }, why),
      ),
      opened?.phases !== undefined && phaseBar(opened.phases, opened.millis ?? 0),
    )
  })
}

/** Who holds leases, the longest first. */
export function leaseLines(leases: ShownDetail['leases'], now: number): Node[] {
  if (leases.length === 0) return none('Nobody holds one.')
  return leases
    .slice(0, 100)
    .map(({ id, generation, label, since }) =>
      el(
        'li',
        {},
        el('span', {}, label ?? id),
        el('span', { class: 'aside' }, label === undefined ? `#${generation}` : `${id} · #${generation}`),
        el('span', { class: 'aside end' }, span(now - since)),
      ),
    )
}

/** Who waits for one. */
export function waitingLines(waiting: ShownDetail['waiting'], now: number): Node[] {
  return waiting
    .slice(0, 100)
    .map((one) => el('li', {}, el('span', {}, `waits for ${one.for}`), el('span', { class: 'aside end' }, span(now - one.since))))
}

/** What it has still to give back. */
export function ledgerLines(resources: ShownDetail['resources'], now: number): Node[] {
  if (resources.length === 0) return none('Empty: nothing to give back.')
  return resources
    .slice(0, 100)
    .map(({ generation, kind, label, since }) =>
      el(
        'li',
        {},
        el('span', { class: 'kind' }, kind),
        el('span', { class: 'mono' }, label),
        el('span', { class: 'aside' }, `#${generation}`),
        el('span', { class: 'aside end' }, span(now - since)),
      ),
    )
}
