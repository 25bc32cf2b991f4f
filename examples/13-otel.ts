// Runs, model calls and tools as spans of OpenTelemetry, below the span of whoever asks, and what tools trace below them.
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { defineTool } from 'byref'
import { createTracedAgent } from 'byref/otel'
import { scriptedModel } from 'byref/testing'

// What an app sets up once; here the spans stay in memory, elsewhere they go to a collector.
const exporter = new InMemorySpanExporter()
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
)
const app = trace.getTracer('app')

const camera = defineTool({
  id: 'camera',
  description: 'Takes a picture',
  inputSchema: { type: 'object', properties: {} },
  execute() {
    // Stands for an HTTP client or a database that traces itself.
    app.startSpan('GET /snapshot').end()
    return { photo: new Uint8Array(1_000) }
  },
})
const model = scriptedModel([{ calls: [{ name: 'camera', arguments: {} }] }, 'Here it is.'])
const agent = createTracedAgent(
  { model, name: 'photographer', tools: [camera] },
  { references: true },
)

await app.startActiveSpan('POST /chat', async (span) => {
  await agent.run({ messages: [{ role: 'user', content: 'Take a picture' }] }).result
  span.end()
})

const spans = exporter.getFinishedSpans()
function draw(parent: string | undefined, indent: string): void {
  for (const span of spans.filter((one) => one.parentSpanContext?.spanId === parent)) {
    console.log(indent + span.name, span.attributes['byref.assets.created'] ?? '')
    draw(span.spanContext().spanId, `${indent}  `)
  }
}
draw(undefined, '')
