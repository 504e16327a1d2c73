import type { LedgerEntry, PoolFacts } from '../../api/report.ts'
import type { TunnelErrorCode } from '../../errors.ts'
import { withoutFolders } from '../../shown.ts'
import type { ShownFact } from './wire.ts'

/** The facts that are kept while nobody looks: a few in each life of a tunnel, none per lease or check. */
export const KEPT = [
  'tunnel.opened',
  'tunnel.lost',
  'tunnel.failed',
  'tunnel.closed',
  'tunnel.stuck',
  'destination.resting',
  'destination.barred',
  'forward.refused',
  'lease.abandoned',
] as const satisfies ReadonlyArray<keyof PoolFacts>

type Told = Partial<
  Record<'generation' | 'openMillis' | 'closeMillis' | 'leases', number> & {
    destination: string
    reason: string
    phases: Record<string, number>
    error: { code: TunnelErrorCode; phase?: string | undefined; hop?: string | undefined }
  }
>

/** A fact by its allow-listed fields. Of an error: its code, phase and hop, never its message. */
export function shownFact(name: (typeof KEPT)[number], fact: PoolFacts[(typeof KEPT)[number]], at: number): ShownFact {
  const told = fact as Told
  return {
    at,
    name,
    generation: told.generation,
    millis: told.openMillis ?? told.closeMillis,
    phases: told.phases,
    code: told.error?.code,
    phase: told.error?.phase,
    hop: told.error?.hop,
    leases: told.leases,
    reason: told.reason === undefined ? undefined : withoutFolders(told.reason),
  }
}

/** A ledger entry's kind and label. */
export const shownResource = ({ kind, label, since }: LedgerEntry, generation: number) => ({
  generation,
  kind,
  label: withoutFolders(label),
  since: since.getTime(),
})

/** A state's value as names from the root, joined by dots. */
export function statePath(value: unknown): string {
  if (typeof value === 'string') return value
  for (const [name, inner] of Object.entries((value as object | undefined) ?? {})) {
    const rest = statePath(inner)
    return rest === '' ? name : `${name}.${rest}`
  }
  return ''
}
