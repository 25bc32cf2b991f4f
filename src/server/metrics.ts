import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { stalledRuns } from '../engine/stalled-runs.ts'
import type { Hub } from './events/hub.ts'

/** Counts for Prometheus (prometheus.io/docs/instrumenting/exposition_formats). */
export interface Metrics {
  /** `route` and not the path: its values are few, and no ids. */
  request(of: { method: string; route: string; status: number }, ms: number): void
  text(): Promise<string>
  readonly contentType: string
}

/** Makes the metrics of a server: requests by route, method and status, and streams that are open. */
export function createMetrics(hub: Pick<Hub, 'readers'>): Metrics {
  const registry = new Registry()
  const requests = new Histogram({
    name: 'byref_http_request_duration_seconds',
    help: 'From a request to the head of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    registers: [registry],
  })
  new Gauge({
    name: 'byref_streams_open',
    help: 'Streams of server-sent events that are open',
    registers: [registry],
    collect() {
      this.set(hub.readers)
    },
  })
  new Gauge({
    name: 'byref_process_resident_memory_bytes',
    help: 'Memory of the process',
    registers: [registry],
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  new Counter({
    name: 'byref_runs_stalled_total',
    help: 'Runs of this process that stopped making progress and were started over',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(stalledRuns())
    },
  })
  return {
    request: (of, ms) => requests.observe(of, ms / 1000),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
