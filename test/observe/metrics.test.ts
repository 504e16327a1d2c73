import assert from 'node:assert/strict'
import { tracingChannel } from 'node:diagnostics_channel'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { Registry } from 'prom-client'
import { meterPool, traceTunnels } from '../../src/observe/metrics/opentelemetry.ts'
import { exposeMetrics } from '../../src/observe/metrics/prometheus.ts'
import { serveMetrics } from '../../src/observe/metrics/server.ts'
import { Repeats } from '../../src/observe/repeats.ts'
import { get } from '../inspector/world.ts'
import { makePool, RESTS_LONG, random, rejection, startHost } from '../pool/world.ts'
import { until } from '../support/until.ts'

/** One metric's values by its labels, as the text format says them. */
function valuesOf(text: string, name: string): Record<string, number> {
  const lines = [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? ([\\d.e+-]+)$`, 'gm'))]
  return Object.fromEntries(lines.map(([, labels = '', value]) => [labels.replaceAll('"', ''), Number(value)]))
}

describe('metrics', () => {
  it('for Prometheus: what is counted adds up with what the pool itself counts, after a random life', async () => {
    await using site = await startHost()
    await using other = await startHost()
    const pool = makePool({ backoffMinMillis: 1, backoffMaxMillis: 1 })
    const registry = new Registry()
    const stop = exposeMetrics(pool, { registry })
    const next = random(7)
    for (let step = 0; step < 40; step += 1) {
      const one = next() < 0.5 ? site : other
      const dice = next()
      if (dice < 0.6) await pool.use(one.target, () => {}).catch(() => {})
      else if (dice < 0.75) one.host.sever()
      else if (dice < 0.9) one.host.refuse(next() < 0.5)
      else await pool.retire(one.target).catch(() => {})
    }
    site.host.refuse(false)
    await until(() => pool.use(site.target, () => true).catch(() => false))
    const lease = await pool.acquire(site.target)
    const during = await registry.metrics()
    assert.deepEqual(valuesOf(during, 'warren_leases'), { '': 1 })
    assert.ok((valuesOf(during, 'warren_resources')['kind=socket'] ?? 0) >= 1)
    lease.release()
    await pool.close()
    await Promise.resolve()
    const text = await registry.metrics()
    const sum = (name: string) => Object.values(valuesOf(text, name)).reduce((all, value) => all + value, 0)
    const { opened, closed, lost, failed } = pool.stats
    assert.deepEqual(
      ['tunnels_opened', 'tunnels_closed', 'tunnels_lost', 'dials_failed'].map((name) => sum(`warren_${name}_total`)),
      [opened, closed, lost, failed],
    )
    assert.ok(opened > 2 && opened === closed && lost > 0 && failed > 0)
    assert.equal(sum('warren_open_seconds_count'), opened)
    assert.equal(sum('warren_leases_acquired_total'), sum('warren_lease_held_seconds_count'))
    assert.deepEqual(sum('warren_tunnels'), 0)
    assert.ok(Object.keys(valuesOf(text, 'warren_dials_failed_total')).every((labels) => /^code=ERR_\w+,phase=\w+$/.test(labels)))
    assert.ok(!text.includes('127.0.0.1'))
    stop()
    assert.equal((await registry.metrics()).trim(), '')
  })

  it('for OpenTelemetry: the same, and a span of each acquire and dial with the code of what it failed by', async () => {
    await using site = await startHost()
    const metricsOut = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
    const reader = new PeriodicExportingMetricReader({ exporter: metricsOut, exportIntervalMillis: 2 ** 30 })
    const meters = new MeterProvider({ readers: [reader] })
    const spansOut = new InMemorySpanExporter()
    const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spansOut)] })
    const pool = makePool(RESTS_LONG)
    const stopMeter = meterPool(pool, { meter: meters.getMeter('test') })
    const stopTrace = traceTunnels({ tracer: tracers.getTracer('test') })
    await pool.use(site.target, () => {}, { label: 'a check' })
    site.host.refuse()
    site.host.sever()
    await until(() => pool.stats.lost === 1)
    await rejection(pool.acquire(site.target), 'ERR_REFUSED')
    await reader.forceFlush()
    const measured = metricsOut.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
    const points = (name: string) => measured.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []
    assert.deepEqual(
      points('warren.dials_failed').map(({ attributes, value }) => [attributes, value]),
      [[{ code: 'ERR_REFUSED', phase: 'connect' }, 1]],
    )
    assert.equal(points('warren.destinations').find(({ attributes }) => attributes.state === 'resting')?.value, 1)
    const spans = spansOut.getFinishedSpans().map(({ name, attributes, status }) => [name, attributes['error.type'], status.code])
    assert.deepEqual(spans, [
      ['warren dial', undefined, 0],
      ['warren acquire', undefined, 0],
      ['warren dial', 'ERR_REFUSED', 2],
      ['warren acquire', 'ERR_REFUSED', 2],
    ])
    assert.equal(spansOut.getFinishedSpans()[1]?.attributes['warren.label'], 'a check')
    stopMeter()
    stopTrace()
    const { length } = spansOut.getFinishedSpans()
    await rejection(pool.acquire(site.target), 'ERR_CIRCUIT_OPEN')
    assert.equal(spansOut.getFinishedSpans().length, length)
    await meters.shutdown()
    await tracers.shutdown()
  })
})

describe('the metrics of `warren watch`', () => {
  it('are served on loopback to who asks for them, and gone when it ends', async () => {
    await using pool = makePool()
    const { url, close } = await serveMetrics(pool, 0)
    const { status, body } = await get(url)
    assert.deepEqual([status, valuesOf(body, 'warren_leases')], [200, { '': 0 }])
    assert.deepEqual([(await get(`${url}/x`)).status, (await get(url, {}, 'POST')).status], [404, 405])
    await close()
    await assert.rejects(get(url), { code: 'ECONNREFUSED' })
  })
})

describe('tracing channels', () => {
  it('tell of an acquire by names alone: not the lease, and not the target', async () => {
    await using site = await startHost()
    await using pool = makePool()
    const seen: object[] = []
    const subscribers = {
      start() {},
      end() {},
      asyncStart() {},
      error() {},
      asyncEnd: (context: object) => void seen.push(context),
    }
    const channel = tracingChannel('ssh-warren:acquire')
    channel.subscribe(subscribers)
    await pool.use(site.target, ({ destination }) => assert.match(destination, /#1$/))
    channel.unsubscribe(subscribers)
    const [context] = seen as Array<Record<string, unknown>>
    assert.deepEqual({ ...context, destination: '' }, { destination: '', label: undefined, result: undefined })
  })
})

describe('the log', () => {
  it('is told once a minute of what a host repeats while it is down, and how often that was', () => {
    let now = 0
    const repeats = new Repeats(() => now)
    const failed = { destination: 'a', error: { code: 'ERR_REFUSED' } }
    assert.equal(repeats.pass('tunnel.failed', failed), 0)
    now = 59_999
    assert.equal(repeats.pass('tunnel.failed', failed), undefined)
    assert.equal(repeats.pass('tunnel.failed', failed), undefined)
    assert.equal(repeats.pass('tunnel.failed', { ...failed, error: { code: 'ERR_AUTH' } }), 0)
    assert.equal(repeats.pass('tunnel.failed', { ...failed, destination: 'b' }), 0)
    assert.equal(repeats.pass('tunnel.opened', failed), 0)
    assert.equal(repeats.pass('tunnel.opened', failed), 0)
    now = 60_000
    assert.equal(repeats.pass('tunnel.failed', failed), 2)
    assert.equal(repeats.pass('tunnel.failed', failed), undefined)
    for (let index = 0; index < 10_000; index += 1) repeats.pass('tunnel.failed', { ...failed, destination: `host-${index}` })
    assert.equal(repeats.pass('tunnel.failed', failed), 0)
  })
})
