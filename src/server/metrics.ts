import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { stalledRuns } from '../engine/run-errors.ts'
import type { EventHub } from './events/event-hub.ts'

/** Metrics for Prometheus (prometheus.io/docs/instrumenting/exposition_formats). */
export type Metrics = ReturnType<typeof createMetrics>

/** Makes the metrics of a server: requests by route, method and status, open streams, memory and stalled runs. */
export function createMetrics(hub: Pick<EventHub, 'readers'>) {
  const registry = new Registry()
  const requests = new Histogram({
    name: 'byref_http_request_duration_seconds',
    help: 'Time from a request to the head of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    registers: [registry],
  })
  new Gauge({
    name: 'byref_streams_open',
    help: 'Open streams of server-sent events',
    registers: [registry],
    collect() {
      this.set(hub.readers)
    },
  })
  new Gauge({
    name: 'byref_process_resident_memory_bytes',
    help: 'Resident memory of the process',
    registers: [registry],
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  new Counter({
    name: 'byref_runs_stalled_total',
    help: 'Runs of this process that stopped making progress and were restarted',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(stalledRuns())
    },
  })
  return {
    /** `route` is the pattern, such as `/api/assets/:id`, so that it has few values and contains no ids. */
    request: (of: { method: string; route: string; status: number }, ms: number): void =>
      requests.observe(of, ms / 1000),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
