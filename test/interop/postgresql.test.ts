import assert from 'node:assert/strict'
import pg from 'pg'
import { startPool } from '../support/pool.ts'
import { Postgres } from '../support/postgres.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { until } from '../support/until.ts'

const RESTARTS = 3

describe('PostgreSQL through a tunnel, with pg', () => {
  let postgres: Postgres
  let sshd: Sshd
  before(async () => {
    const starting = await Promise.all([Postgres.start(), startSshd()])
    postgres = starting[0]
    sshd = starting[1]
  })
  after(async () => {
    await Promise.all([postgres?.[Symbol.asyncDispose](), sshd?.close()])
  })

  /** Clients that insert all the time while sshd restarts again and again; each row that pg says is in is in once. */
  async function survives(table: string, database: pg.Pool): Promise<void> {
    // Connections that break while nobody uses them.
    database.on('error', () => {})
    await database.query(`create table ${table} (id int primary key, note text)`)
    let last = 0
    const written: number[] = []
    const failures: string[] = []
    let isOver = false
    const writers = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        last += 1
        const id = last
        try {
          await database.query(`insert into ${table} values ($1, repeat('x', 5000))`, [id])
          written.push(id)
        } catch (error) {
          failures.push(String(error))
          // Who is refused at once, without a turn of the event loop, and asks again and again would be all that there is.
          await new Promise((resolve) => setImmediate(resolve))
        }
      }
    })
    try {
      for (let restart = 1; restart <= RESTARTS; restart += 1) {
        const before = written.length
        await until(() => written.length > before + 20, { within: 10_000 })
        await sshd.restart()
        const after = written.length
        await until(() => written.length > after + 20, { within: 10_000, what: `it works again: ${failures.slice(-3)}` })
      }
    } finally {
      isOver = true
      await Promise.all(writers)
    }
    // At most one statement of each writer and restart, and who tried to connect in the gap.
    assert.ok(failures.length > 0, 'no restart was noticed')
    const { rows } = await database.query<{ id: number }>(`select id from ${table}`)
    const kept = new Set(rows.map(({ id }) => id))
    assert.deepEqual(
      written.filter((id) => !kept.has(id)),
      [],
    )
    // Large both ways: the answer is larger than a window.
    const big = await database.query<{ length: number; text: string }>(
      "select repeat('y', 5000000) as text, length($1) as length",
      ['z'.repeat(5_000_000)],
    )
    assert.deepEqual([big.rows[0]?.text.length, big.rows[0]?.length], [5_000_000, 5_000_000])
    await database.end()
  }

  for (const transport of ['ssh2', 'openssh'] as const)
    it(`keeps working across restarts of sshd behind pool.listen, at the same address (${transport})`, async () => {
      await using pool = startPool({ transport, backoffMinMillis: 20, backoffMaxMillis: 100 })
      const standing = await pool.listen(sshd.target, { to: { socketPath: postgres.socketPath }, listen: 'tcp' })
      const { address } = standing
      await survives(
        `listened_${transport}`,
        new pg.Pool({ ...address, user: postgres.user, database: 'postgres', max: 4, connectionTimeoutMillis: 10_000 }),
      )
      assert.deepEqual(standing.address, address)
      assert.equal(pool.stats.opened, 1 + RESTARTS)
      await until(() => pool.stats.leases === 0)
    })

  it('keeps working across restarts of sshd with pool.socket as its stream', async () => {
    await using pool = startPool({ backoffMinMillis: 20, backoffMaxMillis: 100 })
    const to = { socketPath: postgres.socketPath }
    await survives(
      'streamed',
      new pg.Pool({
        stream: () => pool.socket(sshd.target, to),
        user: postgres.user,
        database: 'postgres',
        max: 4,
        connectionTimeoutMillis: 10_000,
      }),
    )
    assert.equal(pool.stats.opened, 1 + RESTARTS)
    await until(() => pool.stats.leases === 0)
  })

  it('says by its own error what pg could not reach', async () => {
    await using pool = startPool()
    const client = new pg.Client({ stream: () => pool.socket(sshd.target, { port: 1 }), user: postgres.user })
    await assert.rejects(client.connect(), { code: 'ERR_CHANNEL_REFUSED' })
  })
})
