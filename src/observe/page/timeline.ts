import type { ShownFact } from '../inspector/wire.ts'
import { el } from './dom.ts'
import { meaningOf } from './meanings.ts'
import { clockTime, short } from './words.ts'

/** The phases of an opening, each as wide as it was long. */
export function phaseBar(phases: Readonly<Record<string, number>>, millis: number): HTMLElement {
  const entries = Object.entries(phases)
  const sum = entries.reduce((total, [, length]) => total + length, 0)
  const bar = el('div', { class: 'phases', role: 'img', 'aria-label': `opened in ${short(millis)}` })
  const legend = el('p', { class: 'legend' }, el('span', {}, `opened in ${short(millis)}`))
  entries.forEach(([name, length], index) => {
    const part = el('i', { 'data-phase': String(index), title: `${name} ${short(length)}` })
    part.style.flexGrow = String(Math.max(0.004, length / (sum === 0 ? 1 : sum)))
    bar.append(part)
    if (length >= sum * 0.02) legend.append(el('span', {}, el('i', { 'data-phase': String(index) }), `${name} ${short(length)}`))
  })
  return el('div', {}, bar, legend)
}

const TITLES: Readonly<Record<string, string>> = {
  'tunnel.opened': 'opened',
  'tunnel.lost': 'lost',
  'tunnel.failed': 'dial failed',
  'tunnel.closed': 'closed',
  'tunnel.stuck': 'will not die',
  'destination.resting': 'rests',
  'destination.barred': 'barred',
  'forward.refused': 'a connection was refused',
  'lease.abandoned': 'a lease was forgotten',
}
const TONES: Readonly<Record<string, string>> = {
  'tunnel.opened': 'serving',
  'tunnel.lost': 'resting',
  'tunnel.failed': 'resting',
  'tunnel.stuck': 'barred',
  'destination.resting': 'resting',
  'destination.barred': 'barred',
}

function saidOf({ name, millis, code, phase, hop, leases, reason }: ShownFact): string {
  const parts: string[] = []
  if (name === 'tunnel.opened') parts.push(`in ${short(millis ?? 0)}`)
  if (reason !== undefined && reason !== '') parts.push(reason)
  // The dial that failed just before says why.
  if (name.startsWith('destination.')) return ''
  if (code !== undefined) parts.push(meaningOf(code))
  if (phase !== undefined) parts.push(`at ${phase}`)
  if (hop !== undefined) parts.push(`jump ${hop}`)
  if (leases !== undefined && leases > 0) parts.push(`under ${leases} lease${leases === 1 ? '' : 's'}`)
  return parts.join(' · ')
}

/** What has happened, the newest first. */
export function timeline(facts: readonly ShownFact[]): Node[] {
  if (facts.length === 0) return [el('li', { class: 'none' }, 'Nothing since the inspector was started.')]
  return facts
    .toReversed()
    .map((fact) =>
      el(
        'li',
        { 'data-state': TONES[fact.name] },
        el('time', {}, clockTime(fact.at)),
        el(
          'div',
          {},
          el(
            'p',
            {},
            fact.generation !== undefined && el('span', { class: 'generation' }, `#${fact.generation}`),
            el('strong', {}, TITLES[fact.name] ?? fact.name),
            el('span', { class: 'aside' }, saidOf(fact)),
            fact.code !== undefined && !fact.name.startsWith('destination.') && el('code', {}, fact.code),
          ),
        ),
      ),
    )
}
