import { Counter, Gauge, Histogram, type Registry, register } from 'prom-client'
import type { TunnelPool } from '../../api/pool.ts'
import { COUNTERS, gauges, HISTOGRAMS, measure } from './measures.ts'

export interface PrometheusOptions {
  /** prom-client's default registry. */
  registry?: Registry | undefined
  /** `warren_`; two pools in one registry need two. */
  prefix?: string | undefined
}

/**
 * Keeps a pool's metrics in a prom-client registry until the result is called, which also takes them out of it. Gauges are read at the scrape.
 * No metric has a destination as a label. Throws what prom-client throws when the names are taken.
 *
 * @example
 * const stop = exposeMetrics(pool)
 * http.createServer(async (_, response) => response.end(await register.metrics())).listen(9464, '127.0.0.1')
 */
export function exposeMetrics(pool: TunnelPool, { registry = register, prefix = 'warren_' }: PrometheusOptions = {}): () => void {
  const registers = [registry]
  const names: string[] = []
  const named = (name: string) => {
    names.push(`${prefix}${name}`)
    return `${prefix}${name}`
  }
  const entries = <T extends object>(table: T) => Object.entries(table) as Array<[keyof T & string, T[keyof T]]>
  const counters = new Map(
    entries(COUNTERS).map(([name, [help, labelNames]]) => [
      name,
      new Counter<string>({ name: named(`${name}_total`), help, labelNames, registers }),
    ]),
  )
  const histograms = new Map(
    entries(HISTOGRAMS).map(([name, [help, labelNames, buckets]]) => [
      name,
      new Histogram<string>({ name: named(name), help, labelNames, buckets: [...buckets], registers }),
    ]),
  )
  for (const [name, { help, label }] of Object.entries(gauges(pool))) {
    new Gauge<string>({
      name: named(name),
      help,
      labelNames: label === undefined ? [] : [label],
      registers,
      collect() {
        this.reset()
        for (const [value, number] of Object.entries(gauges(pool)[name]?.values ?? {}))
          this.set(label === undefined ? {} : { [label]: value }, number)
      },
    })
  }
  const stop = measure(pool, {
    count: (name, labels) => counters.get(name)?.inc(labels),
    measure: (name, seconds, labels) => histograms.get(name)?.observe(labels, seconds),
  })
  return () => {
    stop()
    for (const name of names) registry.removeSingleMetric(name)
  }
}
