import { type Tracer, trace } from '@opentelemetry/api'
import { createAgent } from '../../agent/agent.ts'
import type { Agent, AgentOptions } from '../../agent/agent-contract.ts'
import { AGENT_OPTIONS } from '../../agent/agent-options.ts'
import { messagesOf } from '../../agent/start-run.ts'
import { checkOptions, is, type OptionTable } from '../../check-options.ts'
import { version } from '../../version.ts'
import { ATTRIBUTES, OPERATIONS, providerName } from './names.ts'
import { createRunSpans, type RunSpans } from './run-spans.ts'
import { withTraceparent } from './traceparent.ts'
import { workSpans } from './work-spans.ts'

/** Options of {@link createTracedAgent}. */
export interface TracingOptions {
  /** Default: that of the global tracer provider, by the name `byref`. */
  tracer?: Tracer
  /** Whether the spans of tools name the assets that they used and made, by reference. Default false. */
  references?: boolean
}

const TRACING: OptionTable<TracingOptions> = {
  tracer: is.having<Tracer>('a tracer of OpenTelemetry', 'startSpan'),
  references: is.boolean,
}

/**
 * Makes an agent, as `createAgent` does, whose runs, model calls and tools are spans of OpenTelemetry: a run below the
 * span that is active where it is asked for, its model calls and tools below it, and what those trace below them. Nothing
 * that is said, passed or returned is recorded.
 *
 * @throws ByrefError as `createAgent`; `config_invalid` for an option that there is not
 */
export function createTracedAgent(options: AgentOptions, tracing: TracingOptions = {}): Agent {
  checkOptions('createTracedAgent', options, AGENT_OPTIONS)
  checkOptions('createTracedAgent', tracing, TRACING)
  const { tracer = trace.getTracer('byref', version), references = false } = tracing
  const { callbacks = {}, name, model } = options
  const runs = createRunSpans({
    tracer,
    name: name === undefined ? OPERATIONS.run : `${OPERATIONS.run} ${name}`,
    attributes: {
      [ATTRIBUTES.operation]: OPERATIONS.run,
      [ATTRIBUTES.provider]: providerName(String(model?.provider)),
      [ATTRIBUTES.model]: model?.modelId,
      [ATTRIBUTES.agent]: name,
    },
    resume: (conversation, namespace) => agent.resume(conversation, { namespace }),
  })
  const spans = workSpans({ tracer, runs, references, within: callbacks })
  const agent = createAgent({ ...options, callbacks: { ...callbacks, ...spans } })
  return traced(agent, runs)
}

function traced(agent: Agent, runs: RunSpans): Agent {
  const self: Agent = {
    ...agent,
    run(options) {
      const span = runs.begin()
      const messages = withTraceparent(messagesOf(options.messages), span.spanContext())
      return runs.follow(span, agent.run({ ...options, messages }))
    },
    async start(options) {
      const span = runs.begin()
      const messages = withTraceparent(messagesOf(options.messages), span.spanContext())
      try {
        return runs.follow(span, await agent.start({ ...options, messages }))
      } catch (error) {
        runs.refuse(span, error)
        throw error
      }
    },
    send(conversation, messages, options) {
      const list = Array.isArray(messages) ? messages : [messages]
      const active = trace.getActiveSpan()?.spanContext() ?? null
      return agent.send(conversation, withTraceparent(list, active), options)
    },
    resume: (conversation, given) => runs.afterSpan(agent.resume(conversation, given)),
    scoped(namespace) {
      const other = agent.scoped(namespace)
      return other === agent ? self : traced(other, runs)
    },
    async close() {
      await agent.close()
      await runs.settled()
    },
  }
  return self
}
