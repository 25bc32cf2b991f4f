import {
  type Attributes,
  context,
  isSpanContextValid,
  type Span,
  SpanKind,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { ConversationEvent } from '../../core/events/events.ts'
import type { Run } from '../../engine/follow-run.ts'
import type { Work } from '../../policies/policy.ts'
import { ATTRIBUTES, EVENTS } from './names.ts'
import { markFailed, thrown, usageAttributes } from './span-end.ts'
import { traceparentOf } from './traceparent.ts'

/** The spans of the runs that this process follows or works on. */
export interface RunSpans {
  /** Begins the span of a run that is asked for here and now. */
  begin(): Span
  /** Ends the span with its run, and gives the run as `afterSpan`. */
  follow<Followed extends Run>(span: Span, run: Followed): Followed
  /** Ends the span of a run that was refused. */
  refuse(span: Span, error: unknown): void
  /** The run, whose result comes after the end of its span, if it has one here. */
  afterSpan<Followed extends Run>(run: Followed): Followed
  /** The span of the run that work is done for; begins one where it was asked for elsewhere. */
  of(work: Work): Span
  /** Resolves when the spans of all runs that are over have ended. */
  settled(): Promise<unknown>
}

/** What {@link createRunSpans} needs. */
export interface RunSpansOptions {
  tracer: Tracer
  name: string
  attributes: Attributes
  /** Follows a run that was asked for elsewhere. */
  resume(conversation: string, namespace: string | null): Run
}

/** Keeps the spans of runs. */
export function createRunSpans({ tracer, name, attributes, resume }: RunSpansOptions): RunSpans {
  /** By their own ids, which messages carry, and by those of runs that are worked on. */
  const spans = new Map<string, Span>()
  const ends = new Map<Run, Promise<void>>()
  const kind = SpanKind.INTERNAL

  function follow<Followed extends Run>(span: Span, run: Followed, runId?: string): Followed {
    const ended = untilEnd(span, run).then(() => {
      for (const id of [idOf(span), runId ?? run.id]) spans.delete(id)
      ends.delete(run)
    })
    ends.set(run, ended)
    return afterSpan(run)
  }

  function afterSpan<Followed extends Run>(run: Followed): Followed {
    const result = run.result.finally(() =>
      Promise.all([...ends].map(([one, ended]) => (one.id === run.id ? ended : null))),
    )
    result.catch(() => {})
    // The rest is the run's own: what it says of itself changes.
    return Object.create(run, { result: { value: result, enumerable: true } })
  }

  /** The span that was begun for a run; a new one where it came by `send`, from another process, or as a sub-agent. */
  function find({ run, conversation, namespace, messages }: Work): Span {
    const said = traceparentOf(messages()[0])
    const own = said && spans.get(said.spanId)
    if (own) return own
    const parent = said ? trace.setSpanContext(context.active(), said) : context.active()
    const links = said && run.claims > 0 ? [{ context: said }] : []
    const span = tracer.startSpan(name, { kind, attributes, links }, parent)
    if (!isSpanContextValid(span.spanContext())) return span
    follow(span, resume(conversation, namespace), run.runId)
    return span
  }

  return {
    begin() {
      const span = tracer.startSpan(name, { kind, attributes })
      spans.set(idOf(span), span)
      return span
    },
    follow,
    refuse(span, error) {
      markFailed(span, thrown(error))
      spans.delete(idOf(span))
      span.end()
    },
    afterSpan,
    of(work) {
      const { run, namespace } = work
      const known = spans.get(run.runId)
      if (known) return known
      const span = find(work)
      // Where nothing is traced there is nothing to find again.
      if (isSpanContextValid(span.spanContext())) spans.set(run.runId, span)
      return span.setAttributes({
        [ATTRIBUTES.parentRun]: run.parentRunId,
        [ATTRIBUTES.namespace]: namespace ?? undefined,
      })
    },
    settled: () => Promise.all(ends.values()),
  }
}

function idOf(span: Span): string {
  return span.spanContext().spanId
}

/** Writes into the span what its run tells, and ends it with the run. Never rejects. */
async function untilEnd(span: Span, run: Run): Promise<void> {
  span.setAttribute(ATTRIBUTES.conversation, run.conversation)
  try {
    for await (const event of run) note(span, event)
    const { reason, usage } = await run.result
    span.setAttributes({ [ATTRIBUTES.runReason]: reason, ...usageAttributes(usage) })
  } catch (error) {
    markFailed(span, thrown(error))
  }
  span.setAttribute(ATTRIBUTES.run, run.id).end()
}

function note(span: Span, event: ConversationEvent): void {
  if (event.type === 'APPROVAL_REQUESTED') {
    span.addEvent(EVENTS.approvalRequested, { [ATTRIBUTES.toolCall]: event.toolCallId })
  } else if (event.type === 'APPROVAL_ANSWERED') {
    const { toolCallId, approved } = event
    const answer = { [ATTRIBUTES.toolCall]: toolCallId, [ATTRIBUTES.approved]: approved }
    span.addEvent(EVENTS.approvalAnswered, answer)
  } else if (event.type === 'PROMPT_COMPACTED') {
    span.addEvent(EVENTS.compacted, { [ATTRIBUTES.compaction]: event.reason })
  }
}
