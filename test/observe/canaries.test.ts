import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { inspect as print } from 'node:util'
import { Registry } from 'prom-client'
import winston from 'winston'
import type { Target } from '../../src/api/target.ts'
import { exposeMetrics } from '../../src/observe/metrics/prometheus.ts'
import { askPools } from '../../src/report.ts'
import { enter, follow, get, inspect } from '../inspector/world.ts'
import { listen, makePool, RESTS_LONG, rejection, startHost } from '../pool/world.ts'
import { until } from '../support/until.ts'

const PASSWORD = 'c4nary-password'
const PASSPHRASE = 'c4nary-passphrase'
const FOLDER = 'c4nary-folder'
const INPUT = 'c4nary-input'

describe('canaries', () => {
  it('planted in keys, passphrases, passwords and paths reach nothing that observes', async () => {
    await using site = await startHost()
    const base = await mkdtemp(join(tmpdir(), `${FOLDER}-`))
    const { key } = site.target.identity as { key: string }
    const keyMark = key.split('\n')[2]?.slice(0, 40) ?? assert.fail()
    const path = join(base, 'id')
    await writeFile(path, key, { mode: 0o600 })
    const texts: string[] = []
    const out = new Writable({
      write: (chunk, _encoding, done) => {
        texts.push(String(chunk))
        done()
      },
    })
    const logger = winston.createLogger({ level: 'silly', transports: [new winston.transports.Stream({ stream: out })] })
    const pool = makePool({ ...RESTS_LONG, logger, runtimeDirectory: base, traceLeases: true })
    const registry = new Registry()
    const stop = exposeMetrics(pool, { registry })
    await using inspector = await inspect(pool)
    const { base: url, cookie } = await enter(inspector)
    const { said, close } = follow(url, cookie)
    pool.inspect((event) => texts.push(print(event, { depth: 12 })))
    const told = listen(pool)
    const target: Target = {
      ...site.target,
      identity: [{ password: PASSWORD }, { path, passphrase: PASSPHRASE }],
      label: 'watched',
    }
    const look = async (destination: string) => {
      texts.push((await get(`${url}/destination?id=${encodeURIComponent(destination)}`, { cookie })).body)
      texts.push(JSON.stringify(await askPools(base, AbortSignal.timeout(5_000))), await registry.metrics())
      texts.push(readFileSync('/proc/self/cmdline', 'utf8'), readFileSync('/proc/self/environ', 'utf8'))
    }

    const lease = await pool.acquire(target, { label: 'holder', forwards: { web: { to: { port: 1 } } } })
    await lease.exec('cat', { input: INPUT })
    await new Promise((resolve) =>
      connect(lease.forwards.web.address.socketPath).on('error', resolve).on('close', resolve).write('x'),
    )
    await look(lease.destination)
    site.host.rejectAuth()
    site.host.sever()
    await until(() => pool.stats.lost === 1)
    texts.push(print(await rejection(pool.acquire(target), 'ERR_AUTH'), { depth: 8 }))
    await look(lease.destination)
    site.host.rejectAuth(false)
    site.host.rotateHostKey()
    pool.reset(target)
    texts.push(print(await rejection(pool.acquire(target), 'ERR_HOST_KEY'), { depth: 8 }))
    const broken = { ...site.target, identity: { key: `${key.slice(0, 300)}${PASSWORD}`, passphrase: PASSPHRASE } }
    texts.push(print(await rejection(pool.acquire(broken)), { depth: 8 }))
    await until(() => JSON.stringify(said).includes('ERR_HOST_KEY'))
    await look(lease.destination)
    await pool.close()
    close()
    stop()

    assert.ok(
      texts.some((text) => text.includes('"pid"') && text.includes('watched')),
      'the report was looked at',
    )
    assert.ok(texts.length > 30 && said.length > 5 && told.length > 8)
    const stream = JSON.stringify(said)
    for (const canary of [PASSWORD, PASSPHRASE, INPUT, keyMark]) {
      assert.deepEqual(
        [...texts, stream, print(told, { depth: 8 })].filter((text) => text.includes(canary)),
        [],
        canary,
      )
    }
    // Paths: the log and errors may name the one that somebody has to look at; what shows the pool to others may not.
    const shown = [stream, ...texts.filter((text) => /^\{"id":|^\[\{"path"|^# HELP/.test(text))]
    assert.ok(shown.length >= 7)
    const places = shown.map((text) => text.replaceAll(/"path":"[^"]*"/g, ''))
    assert.deepEqual(
      places.filter((text) => text.includes(FOLDER)),
      [],
      FOLDER,
    )
    await rm(base, { recursive: true })
  })
})
