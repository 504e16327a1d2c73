import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Lease } from '../../src/api/lease.ts'
import type { Pool } from '../../src/pool.ts'
import type { FleetHost } from '../../src/testing/index.ts'
import { jumpOver } from '../pool/chain.ts'
import type { Outcomes } from './outcomes.ts'
import type { Stubborn } from './stubborn.ts'

/** How long a tunnel lives in `playSlow`. */
export const LIFETIME_MILLIS = 30_000

/** What a scenario is played on: a host that is a victim, and one beside it. */
export interface Stage {
  readonly pool: Pool
  readonly victim: FleetHost
  readonly other: FleetHost
  /** Like the victim nobody else's, and whole. */
  readonly jump: FleetHost
  readonly outcomes: Outcomes
  readonly stubborn: Stubborn
}

/** A request through a lease; throws unless it is answered. */
async function request(lease: Lease, host: FleetHost): Promise<void> {
  const socket = await lease.connect(host.http)
  socket.end('GET /health HTTP/1.0\r\n\r\n')
  const answer = await text(socket)
  if (!answer.includes('ok')) throw new Error(`answered ${JSON.stringify(answer)}`)
}

/** A request to a host by a lease of its own. */
export async function check(pool: Pool, host: FleetHost): Promise<void> {
  const lease = await pool.acquire(host.target)
  try {
    await request(lease, host)
  } finally {
    lease.release()
  }
}

/** What users do, a loss and a refusal. Nothing of it need succeed but what is asked of the other host; all of it must settle. */
export async function play({ pool, victim, other, outcomes }: Stage): Promise<void> {
  const { target } = victim
  const first = await outcomes.of('acquire', pool.acquire(target))
  if (first !== undefined) await outcomes.of('request', request(first, victim))
  const second = outcomes.of('second acquire', pool.acquire(target))
  const exclusive = await outcomes.of('exclusive acquire', pool.acquire(target, { exclusive: true }))
  await check(pool, other)
  exclusive?.release()
  ;(await second)?.release(new Error('a fault'))
  first?.release()
  await outcomes.of('acquire after a fault', check(pool, victim))
  await outcomes.of('retire', pool.retire(target))
  const probed = await outcomes.of('acquire before a probe', pool.acquire(target))
  await outcomes.of('probe', pool.probe(target))
  probed?.release()
  const held = await outcomes.of('acquire before a loss', pool.acquire(target))
  if (held?.signal.aborted === false) {
    const lost = once(held.signal, 'abort')
    victim.sever()
    await outcomes.of('the loss under a lease', lost)
  }
  held?.release()
  victim.refuse()
  await outcomes.of('acquire while it refuses', pool.acquire(target))
  const waiting = outcomes.of('acquire that waits', pool.acquire(target, { whenResting: 'wait', timeoutMillis: 6_000 }))
  await outcomes.of('forced acquire', pool.acquire(target, { whenResting: 'dial', timeoutMillis: 4_000 }))
  const abort = new AbortController()
  const aborted = outcomes.of('acquire that is aborted', pool.acquire(target, { signal: abort.signal, whenResting: 'dial' }))
  abort.abort()
  await aborted
  await waiting
  await outcomes.of('exclusive acquire while it refuses', pool.acquire(target, { exclusive: true, whenResting: 'dial' }))
  await check(pool, other)
  victim.refuse(false)
  pool.reset(target)
  await outcomes.of('acquire in the end', pool.acquire(target))
}

/** What networks, servers and time do. */
export async function playRough({ pool, victim, other, outcomes, stubborn }: Stage): Promise<void> {
  const { target } = victim
  const state = (is: string) => () => pool.health(target).state === is

  victim.refuse()
  await outcomes.of('exclusive acquire while it refuses', pool.acquire(target, { exclusive: true }))
  victim.refuse(false)
  const exclusive = await outcomes.of(
    'forced exclusive acquire',
    pool.acquire(target, { exclusive: true, whenResting: 'dial', timeoutMillis: 10_000 }),
  )
  exclusive?.release()
  await check(pool, other)

  // A dial that nobody waits for, and one that is retired.
  victim.freeze()
  const abort = new AbortController()
  const aborted = outcomes.of('acquire that is aborted', pool.acquire(target, { signal: abort.signal, whenResting: 'dial' }))
  await outcomes.fact('it dials', () => pool.stats.tunnels.opening > 0)
  abort.abort()
  await aborted
  await outcomes.fact('the dial is given up', () => pool.stats.tunnels.opening === 0)
  const spoilt = outcomes.of('acquire of a dial that is retired', pool.acquire(target, { whenResting: 'dial' }))
  await outcomes.fact('it dials again', () => pool.stats.tunnels.opening > 0)
  const retired = outcomes.of('retire of a dial', pool.retire(target))
  victim.thaw()
  await retired
  const lease = await spoilt

  // A generation outlives its time, a successor does not open, probes are not answered.
  await outcomes.fact('its life is over', () => victim.counts.logins > 3)
  victim.refuse()
  await outcomes.of('retire', pool.retire(target))
  await outcomes.of('forced retire', Promise.all([pool.retire(target), pool.retire(target, { force: true })]))
  victim.refuse(false)
  lease?.release()
  pool.reset(target)
  const held = await outcomes.of('acquire before a silence', pool.acquire(target))
  victim.freeze()
  await outcomes.of('probe without an answer', pool.probe(target))
  await outcomes.of('probe without an answer', pool.probe(target))
  victim.thaw()
  held?.release()
  await check(pool, other)

  // Three generations that will not die, and a fourth that is not dialled.
  stubborn.isOn = true
  await outcomes.of('retire of the last that dies', pool.retire(target, { force: true }))
  for (let count = 1; count <= 3; count += 1) {
    await outcomes.of('acquire beside what will not die', pool.acquire(target, { whenResting: 'dial', timeoutMillis: 5_000 }))
    victim.sever()
    await outcomes.fact('it is stuck', () => pool.report().tunnels.filter(({ why }) => why?.startsWith('stuck')).length >= count)
  }
  await outcomes.of('acquire beside three', pool.acquire(target, { whenResting: 'dial', timeoutMillis: 5_000 }))
  stubborn.relent()
  await outcomes.fact('they have died', () => pool.stats.tunnels.draining === 0)

  // Another host key: for a successor, for a dial, for an exclusive one.
  await outcomes.of('acquire before another key', pool.acquire(target, { whenResting: 'dial', timeoutMillis: 5_000 }))
  victim.rotateHostKey()
  await outcomes.of('retire to another key', pool.retire(target))
  await outcomes.fact('it is barred', state('barred'))
  await outcomes.of('forced acquire while barred', pool.acquire(target, { whenResting: 'dial', timeoutMillis: 5_000 }))
  await outcomes.of(
    'forced exclusive acquire',
    pool.acquire(target, { exclusive: true, whenResting: 'dial', timeoutMillis: 5_000 }),
  )
  pool.reset(target)
  await outcomes.of('exclusive acquire of another key', pool.acquire(target, { exclusive: true, timeoutMillis: 5_000 }))
  await check(pool, other)
}

/** What only minutes bring about, and a jump. The pool has one place to dial in. */
export async function playSlow({ pool, victim, other, jump, outcomes }: Stage): Promise<void> {
  const { target } = victim

  // A login is refused once more when the first refusal is a minute old.
  victim.rejectAuth()
  await outcomes.of('acquire while it lets nobody in', pool.acquire(target))
  await outcomes.pass(61_000)
  await outcomes.of('acquire a minute later', pool.acquire(target, { whenResting: 'dial' }))
  await outcomes.of('acquire two minutes later', pool.acquire(target, { whenResting: 'dial' }))
  victim.rejectAuth(false)
  pool.reset(target)
  await check(pool, other)

  // A tunnel outlives its time because no successor opens; retired by force meanwhile.
  const lease = await outcomes.of('acquire for long', pool.acquire(target))
  victim.refuse()
  await outcomes.pass(3 * LIFETIME_MILLIS)
  await outcomes.of('forced retire', Promise.all([pool.retire(target), pool.retire(target, { force: true })]))
  lease?.release()
  victim.refuse(false)
  pool.reset(target)

  // Its jump is lost under the dial; then it is lost, and then drains, while others dial.
  const behind = { ...target, jumps: [jumpOver(jump.target)] }
  for (const [what, end] of [
    ['is lost', () => jump.sever()],
    ['drains', () => void outcomes.of('retire of the jump', pool.retire(jump.target, { force: true }))],
  ] as const) {
    const through = await outcomes.of('acquire of the jump', pool.acquire(jump.target))
    victim.freeze()
    const blocking = outcomes.of('acquire that takes the place', pool.acquire(target, { whenResting: 'dial' }))
    await outcomes.fact('it dials', () => pool.stats.tunnels.opening > 0)
    const queued = outcomes.of(`acquire behind a jump that ${what}`, pool.acquire(behind, { whenResting: 'dial' }))
    await outcomes.pass(1_000)
    end()
    await outcomes.pass(1_000)
    victim.thaw()
    for (const one of [await blocking, await queued, through]) one?.release()
  }
  victim.freeze()
  const dialled = outcomes.of('acquire behind a jump', pool.acquire(behind, { whenResting: 'dial' }))
  await outcomes.fact('it dials', () => pool.stats.tunnels.opening > 0)
  jump.sever()
  await outcomes.pass(1_000)
  victim.thaw()
  ;(await dialled)?.release()

  // Nobody comes any more.
  await outcomes.pass(800_000)
  await check(pool, other)
}
