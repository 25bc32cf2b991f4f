import {
  type Attributes,
  context,
  type Span,
  SpanKind,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { AroundWork, CallWork, Work } from '../../agent/around-work.ts'
import { namedAssets } from '../../assets/named-assets.ts'
import type { ConversationEvent } from '../../content/events.ts'
import { redactText } from '../../log/redact.ts'
import { formatAssetRef } from '../../refs/asset-ref.ts'
import { ATTRIBUTES, OPERATIONS, providerName } from './names.ts'
import type { RunSpans } from './run-spans.ts'
import { markFailed, thrown, usageAttributes } from './span-end.ts'

/** What {@link workSpans} needs. */
export interface WorkSpansOptions {
  tracer: Tracer
  runs: RunSpans
  /** Whether calls say which assets they used and made. */
  references: boolean
  /** What else is around the same work, within the spans. */
  within: AroundWork
}

/** At most so many references in one attribute. */
const MAX_REFERENCES = 100

/** A span for each answer of the model and each execution of a tool, below that of their run, in which the work runs. */
export function workSpans(options: WorkSpansOptions): Required<AroundWork> {
  const { tracer, runs, references, within } = options

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
      const work = () => (within.aroundStep ? within.aroundStep(step, perform) : perform())
      return during(span, step, work, ({ usage, finishReason }) => {
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
      const work = () => (within.aroundCall ? within.aroundCall(call, perform) : perform())
      return during(span, call, work, ({ error, events }) => {
        if (error) markFailed(span, error)
        if (references) span.setAttribute(ATTRIBUTES.assetsCreated, madeBy(events))
      })
    },
  }
}

/** Performs within the span, and ends it. */
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
    const cut = { code: 'interrupted', message: 'The run was over before' }
    markFailed(span, signal.aborted ? cut : thrown(error))
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
