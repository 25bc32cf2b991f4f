// Runs, model calls and tool calls as OpenTelemetry spans, below the span of the request that started the run.
// npm install byref @opentelemetry/api @opentelemetry/context-async-hooks @opentelemetry/sdk-trace-base
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

// An app sets this up once. Here the spans stay in memory; usually they go to a collector.
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
    // Stands for an HTTP client or a database that creates its own spans.
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
