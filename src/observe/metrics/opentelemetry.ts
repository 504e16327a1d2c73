import { tracingChannel } from 'node:diagnostics_channel'
import { type Meter, metrics, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import type { TunnelPool } from '../../api/pool.ts'
import type { Traced } from '../tracing.ts'
import { COUNTERS, gauges, HISTOGRAMS, measure } from './measures.ts'

export interface OpenTelemetryOptions {
  /** The global meter provider's. */
  meter?: Meter | undefined
  /** The global tracer provider's. */
  tracer?: Tracer | undefined
}

/** Reports a pool's metrics to an OpenTelemetry meter until the result is called. Gauges are read when they are collected. */
export function meterPool(pool: TunnelPool, { meter = metrics.getMeter('ssh-warren') }: OpenTelemetryOptions = {}): () => void {
  const counters = new Map(
    Object.entries(COUNTERS).map(([name, [description]]) => [name, meter.createCounter(`warren.${name}`, { description })]),
  )
  const histograms = new Map(
    Object.entries(HISTOGRAMS).map(([name, [description, , buckets]]) => [
      name,
      meter.createHistogram(`warren.${name.replace(/_seconds$/, '')}`, {
        description,
        unit: 's',
        advice: { explicitBucketBoundaries: [...buckets] },
      }),
    ]),
  )
  const observed = Object.entries(gauges(pool)).map(([name, { help, label }]) => {
    const gauge = meter.createObservableGauge(`warren.${name}`, { description: help })
    const read = (result: { observe(value: number, attributes: Record<string, string>): void }) => {
      for (const [value, number] of Object.entries(gauges(pool)[name]?.values ?? {}))
        result.observe(number, label === undefined ? {} : { [label]: value })
    }
    gauge.addCallback(read)
    return () => gauge.removeCallback(read)
  })
  const stop = measure(pool, {
    count: (name, labels) => counters.get(name)?.add(1, labels),
    measure: (name, seconds, labels) => histograms.get(name)?.record(seconds, labels),
  })
  return () => {
    stop()
    for (const forget of observed) forget()
  }
}

/**
 * Makes a span of each acquire (within whatever span is active) and of each dial, of every pool in the process, until the result is called.
 * A span carries ids and an error's code, never its message.
 */
export function traceTunnels({ tracer = trace.getTracer('ssh-warren') }: OpenTelemetryOptions = {}): () => void {
  const stops = (['acquire', 'dial'] as const).map((name) => {
    const channel = tracingChannel<object, Traced>(`ssh-warren:${name}`)
    const spans = new WeakMap<object, Span>()
    const subscribers = {
      start(context: Traced) {
        const { destination, label, generation, transport } = context
        const attributes = Object.fromEntries(
          Object.entries({ destination, label, generation, transport }).flatMap(([key, value]) =>
            value === undefined ? [] : [[`warren.${key}`, value]],
          ),
        )
        spans.set(context, tracer.startSpan(`warren ${name}`, { attributes }))
      },
      error(context: Traced & { error: unknown }) {
        const { code } = context.error as { code?: string }
        spans.get(context)?.setStatus({ code: SpanStatusCode.ERROR, message: code ?? 'failed' })
        if (code !== undefined) spans.get(context)?.setAttribute('error.type', code)
      },
      asyncEnd: (context: Traced) => spans.get(context)?.end(),
    }
    channel.subscribe(subscribers as never)
    return () => channel.unsubscribe(subscribers as never)
  })
  return () => {
    for (const stop of stops) stop()
  }
}
