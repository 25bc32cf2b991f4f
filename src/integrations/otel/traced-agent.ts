import {
  type Attributes,
  context,
  type Span,
  SpanKind,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { createAgent } from '../../agent/agent.ts'
import type { Agent, AgentOptions } from '../../agent/agent-contract.ts'
import { AGENT_OPTIONS } from '../../agent/agent-options.ts'
import { type MessagesInput, messagesOf } from '../../agent/messages-input.ts'
import { namedAssets } from '../../assets/named-assets.ts'
import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { formatAssetRef } from '../../core/refs/asset-ref.ts'
import { redactText } from '../../log/redact.ts'
import type { CallWork, Policy, Work } from '../../policies/policy.ts'
import { version } from '../../version.ts'
import { markFailed, RunSpans, thrown, usageAttributes, withTraceparent } from './run-spans.ts'
import { ATTRIBUTES, OPERATIONS, providerName } from './span-names.ts'

/** Options of {@link createTracedAgent}. */
export interface TracingOptions {
  /** Default: the tracer `byref` of the global provider. */
  tracer?: Tracer
  /** Whether the spans of tools contain the references of the assets that they used and made. Default: false. */
  references?: boolean
}

const TRACING: OptionTable<TracingOptions> = {
  tracer: is.having<Tracer>('a tracer of OpenTelemetry', 'startSpan'),
  references: is.boolean,
}

/**
 * Makes an agent, as `createAgent` does, whose runs, model calls and tools are OpenTelemetry spans. A run is a child of the
 * active span, its model calls and tools are children of the run, and their own spans are children of these. Messages,
 * arguments and results are not recorded.
 *
 * @throws ByrefError as `createAgent`; `config_invalid` for an unknown option
 */
export function createTracedAgent(options: AgentOptions, tracing: TracingOptions = {}): Agent {
  checkOptions('createTracedAgent', options, AGENT_OPTIONS)
  checkOptions('createTracedAgent', tracing, TRACING)
  const { tracer = trace.getTracer('byref', version), references = false } = tracing
  const { policies = [], name, model } = options
  const runs = new RunSpans({
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
  const spans = workSpans(runs, { tracer, references })
  const agent = createAgent({ ...options, policies: [spans, ...policies] })
  return traced(agent, runs)
}

function traced(agent: Agent, runs: RunSpans): Agent {
  const self: Agent = {
    ...agent,
    run(options) {
      const span = runs.begin()
      return runs.follow(span, agent.run(withSpan(options, span)))
    },
    async start(options) {
      const span = runs.begin()
      try {
        return runs.follow(span, await agent.start(withSpan(options, span)))
      } catch (error) {
        runs.reject(span, error)
        throw error
      }
    },
    send(conversation, messages, options) {
      const active = trace.getActiveSpan()?.spanContext() ?? null
      return agent.send(conversation, withTraceparent(messagesOf(messages), active), options)
    },
    resume: (conversation, given) => runs.afterSpan(agent.resume(conversation, given)),
    scoped(namespace, options) {
      const other = agent.scoped(namespace, options)
      return other === agent ? self : traced(other, runs)
    },
    async close() {
      await agent.close()
      await runs.settled()
    },
  }
  return self
}

/** Returns the options of a run whose messages name its span. */
function withSpan<Options extends { messages: MessagesInput }>(
  options: Options,
  span: Span,
): Options {
  // The agent rejects invalid options.
  if (Object(options).messages === undefined) return options
  const messages = withTraceparent(messagesOf(options.messages), span.spanContext())
  return { ...options, messages }
}

/** Maximum number of references in one attribute. */
const MAX_REFERENCES = 100

/** Runs each model call and each execution of a tool in a span, which is a child of the run's span. */
function workSpans(runs: RunSpans, { tracer, references }: Required<TracingOptions>): Policy {
  function start(work: Work, kind: SpanKind, name: string, attributes: Attributes): Span {
    const shared = {
      [ATTRIBUTES.conversation]: work.conversation,
      [ATTRIBUTES.run]: work.run.runId,
    }
    const parent = trace.setSpan(context.active(), runs.of(work))
    return tracer.startSpan(name, { kind, attributes: { ...shared, ...attributes } }, parent)
  }

  return {
    aroundStep(step, perform) {
      const { model, messageId } = step
      const span = start(step, SpanKind.CLIENT, `${OPERATIONS.step} ${model.modelId}`, {
        [ATTRIBUTES.operation]: OPERATIONS.step,
        [ATTRIBUTES.provider]: providerName(model.provider),
        [ATTRIBUTES.model]: model.modelId,
        [ATTRIBUTES.stream]: true,
        [ATTRIBUTES.message]: messageId,
      })
      return during(span, step, perform, ({ usage, finishReason }) => {
        span.setAttribute(ATTRIBUTES.finishReasons, [finishReason])
        span.setAttributes(usageAttributes(usage))
      })
    },
    aroundCall(call, perform) {
      const { tool, toolCallId, attempt } = call
      const span = start(call, SpanKind.INTERNAL, `${OPERATIONS.call} ${tool.id}`, {
        [ATTRIBUTES.operation]: OPERATIONS.call,
        [ATTRIBUTES.tool]: tool.id,
        [ATTRIBUTES.toolType]: 'function',
        [ATTRIBUTES.toolCall]: toolCallId,
        [ATTRIBUTES.attempt]: attempt,
      })
      if (references) span.setAttribute(ATTRIBUTES.assetsUsed, usedBy(call))
      return during(span, call, perform, ({ error, events }) => {
        if (error) markFailed(span, error)
        if (references) span.setAttribute(ATTRIBUTES.assetsCreated, madeBy(events))
      })
    },
  }
}

/** Whether this process has stopped working on the run, and nothing has failed. */
function isLoss(reason: unknown): boolean {
  const { name, code } = Object(reason)
  return name === 'RunLostError' || code === 'lease_held' || code === 'conversation_not_found'
}

/** Runs work in a span, and ends the span. */
async function during<Outcome>(
  span: Span,
  { signal }: Work,
  perform: () => Promise<Outcome>,
  end: (outcome: Outcome) => void,
): Promise<Outcome> {
  try {
    const outcome = await context.with(trace.setSpan(context.active(), span), perform)
    end(outcome)
    return outcome
  } catch (error) {
    // The run has ended, or continues elsewhere: the work did not fail.
    if (signal.aborted && isLoss(signal.reason)) span.setAttribute(ATTRIBUTES.interrupted, true)
    else markFailed(span, thrown(error))
    throw error
  } finally {
    span.end()
  }
}

function usedBy({ arguments: args }: CallWork): string[] {
  const ids = [...namedAssets(args, { bareIds: false })].slice(0, MAX_REFERENCES)
  return ids.map((id) => redactText(formatAssetRef({ id }))).filter((ref) => ref.length < 200)
}

function madeBy(events: readonly ConversationEvent[]): string[] {
  const refs = events.flatMap((event) => (event.type === 'ASSET_CREATED' ? event.payload.ref : []))
  return refs.slice(0, MAX_REFERENCES)
}
