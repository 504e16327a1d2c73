import type { Forward, ForwardSpec, Standing } from '../../api/forward.ts'
import type { Target } from '../../api/target.ts'
import { createTunnelPool } from '../../create-pool.ts'
import { TunnelError } from '../../errors.ts'
import { tellSystemd } from '../../owners/child/tell-systemd.ts'
import { shown } from '../../shown.ts'
import { adviceOn } from '../check/outcome.ts'

/** One thing that happened, for people and for programs. */
export interface News {
  readonly event: 'listening' | 'up' | 'down' | 'ready' | 'barred' | 'closed' | 'warning'
  readonly endpoint?: string
  readonly text: string
}

/** What is to be up. */
export interface Wanted {
  readonly target: Target
  readonly specs: readonly ForwardSpec[]
  readonly pool: Parameters<typeof createTunnelPool>[0]
  readonly tell: (news: News) => void
}

const nameOf = (address: Forward['address']) => ('socketPath' in address ? address.socketPath : `${address.host}:${address.port}`)
const endOf = (end: { port: number; host?: string | undefined } | { socketPath: string }) =>
  'socketPath' in end ? end.socketPath : `${end.host ?? '127.0.0.1'}:${end.port}`
const leadsTo = (spec: ForwardSpec) => ('to' in spec ? endOf(spec.to) : 'wherever a SOCKS client asks')

/** The first of these signals; a second one ends the process as if nobody had listened. */
function signalled(names: readonly NodeJS.Signals[]): Promise<string> {
  return new Promise((resolve) => {
    const heard = (name: NodeJS.Signals) => {
      for (const each of names) process.off(each, heard)
      resolve(name)
    }
    for (const name of names) process.on(name, heard)
  })
}

/** Keeps endpoints up until a signal comes; resolves with the exit code: 0, or 1 when the host is barred, because no repetition would help. */
export async function runUp({ target, specs, pool: options, tell }: Wanted): Promise<number> {
  const pool = createTunnelPool(options)
  const standing: Array<Standing<ForwardSpec>> = []
  let isReady = false
  const look = () => {
    if (isReady || standing.length < specs.length || !standing.every(({ state }) => state === 'up')) return
    isReady = true
    tell({ event: 'ready', text: 'all endpoints are up' })
    void tellSystemd('--ready', 'up').then((fault) => fault && tell({ event: 'warning', text: fault }))
  }
  const barred = new Promise<TunnelError>((resolve) => pool.on('destination.barred', ({ error }) => resolve(error)))
  const ended = signalled(['SIGINT', 'SIGTERM', 'SIGHUP'])
  const isOver = Promise.race([barred, ended])
  try {
    for (const spec of specs) {
      const listening = pool.listen(target, spec, { eager: true, label: 'warren up' })
      // A reverse endpoint listens only when its tunnel is up.
      const each = await Promise.race([listening, isOver])
      if (typeof each === 'string' || TunnelError.is(each)) break
      standing.push(each)
      const endpoint = nameOf(each.address)
      tell({ event: 'listening', endpoint, text: `${endpoint} leads to ${leadsTo(spec)}` })
      each.on('up', () => {
        tell({ event: 'up', endpoint, text: `${endpoint} is up` })
        look()
      })
      each.on('down', ({ cause }) =>
        tell({ event: 'down', endpoint, text: `${endpoint} waits: ${shown(cause?.message ?? 'its tunnel is gone', 300)}` }),
      )
    }
    look()
    const over = await isOver
    if (!TunnelError.is(over)) return 0
    tell({ event: 'barred', text: `${shown(over.message, 400)}\n${adviceOn(over)}`.trim() })
    return 1
  } finally {
    await tellSystemd('--stopping', 'closing')
    await pool.close({ timeoutMillis: 2_000 })
    tell({ event: 'closed', text: 'closed; nothing is left' })
  }
}
