import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Registry } from 'prom-client'
import { exposeMetrics } from '../../src/observe/metrics/prometheus.ts'
import { makePool } from '../pool/world.ts'

describe('the Grafana dashboard and the alerts of the documentation', () => {
  for (const file of ['examples/grafana/warren.json', 'docs/observing.md']) {
    it(`${file} asks for metrics that there are, by labels that they have`, async () => {
      const registry = new Registry()
      const stop = exposeMetrics(makePool(), { registry })
      const known = new Map(
        registry.getMetricsAsArray().map((metric) => [metric.name, (metric as unknown as { labelNames: string[] }).labelNames]),
      )
      const asked = [...readFileSync(file, 'utf8').matchAll(/\b(warren_[a-z_]+?)(?:_bucket)?(?=[{[,)\s"`])(?:\{([^}]*)\})?/g)]
      assert.ok(asked.length >= 5)
      for (const [, name = '', labels = ''] of asked) {
        assert.ok(known.has(name), name)
        for (const [, label = ''] of labels.matchAll(/(\w+)=/g))
          assert.ok(label === 'job' || known.get(name)?.includes(label), `${name} has no ${label}`)
      }
      stop()
    })
  }
})
