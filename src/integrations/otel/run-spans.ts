import {
  type Attributes,
  context,
  isSpanContextValid,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { ByrefError, errorMessage } from '../../core/errors.ts'
import type { CallError, ConversationEvent, TokenUsage } from '../../core/events/events.ts'
import { isPlainObject } from '../../core/json/json.ts'
import type { Message } from '../../core/messages/message.ts'
import type { Run } from '../../engine/follow-run.ts'
import { redactText } from '../../log/redact.ts'
import type { Work } from '../../policies/policy.ts'
import { ATTRIBUTES, EVENTS } from './span-names.ts'

/** Options of {@link RunSpans}. */
export interface RunSpansOptions {
  tracer: Tracer
  name: string
  attributes: Attributes
  /** Follows a run that another process or call started. */
  resume(conversation: string, namespace: string | null): Run
}

/** The spans of the runs that this process follows or works on. */
export class RunSpans {
  readonly #options: RunSpansOptions
  /** The spans by their own ids, which messages carry, and by the ids of running runs. */
  readonly #spans = new Map<string, Span>()
  readonly #ends = new Map<Run, Promise<void>>()

  constructor(options: RunSpansOptions) {
    this.#options = options
  }

  /** Starts the span of a run that is started here. */
  begin(): Span {
    const { tracer, name, attributes } = this.#options
    const span = tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes })
    this.#spans.set(idOf(span), span)
    return span
  }

  /** Ends the span with its run. Returns the run as {@link afterSpan}. */
  follow<Followed extends Run>(span: Span, run: Followed, runId?: string): Followed {
    const ended = untilEnd(span, run).then(() => {
      for (const id of [idOf(span), runId ?? run.id]) this.#spans.delete(id)
      this.#ends.delete(run)
    })
    this.#ends.set(run, ended)
    return this.afterSpan(run)
  }

  /** Ends the span of a run that could not start. */
  reject(span: Span, error: unknown): void {
    markFailed(span, thrown(error))
    this.#spans.delete(idOf(span))
    span.end()
  }

  /** Returns the run with a result that resolves after its span in this process, if any, has ended. */
  afterSpan<Followed extends Run>(run: Followed): Followed {
    const result = run.result.finally(() =>
      Promise.all([...this.#ends].map(([one, ended]) => (one.id === run.id ? ended : null))),
    )
    result.catch(() => {})
    // Other fields stay the run's own, because they change.
    return Object.create(run, { result: { value: result, enumerable: true } })
  }

  /**
   * Returns the span of the run that a piece of work belongs to. Starts a span for a run that was started elsewhere.
   */
  of(work: Work): Span {
    const { run, namespace } = work
    const known = this.#spans.get(run.runId)
    if (known) return known
    const span = this.#find(work)
    // Without tracing, no later work needs to find the span.
    if (isSpanContextValid(span.spanContext())) this.#spans.set(run.runId, span)
    return span.setAttributes({
      [ATTRIBUTES.parentRun]: run.parentRunId,
      [ATTRIBUTES.namespace]: namespace ?? undefined,
    })
  }

  /** Resolves when the spans of all finished runs have ended. */
  settled(): Promise<unknown> {
    return Promise.all(this.#ends.values())
  }

  /** Returns the span of a run; a new one for a run of `send`, of another process, or of a sub-agent. */
  #find({ run, conversation, namespace, messages }: Work): Span {
    const { tracer, name, attributes, resume } = this.#options
    const sent = traceparentOf(messages()[0])
    const linked = sent && this.#spans.get(sent.spanId)
    if (linked) return linked
    const parent = sent ? trace.setSpanContext(context.active(), sent) : context.active()
    const links = sent && run.claims > 0 ? [{ context: sent }] : []
    const span = tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes, links }, parent)
    if (!isSpanContextValid(span.spanContext())) return span
    this.follow(span, resume(conversation, namespace), run.runId)
    return span
  }
}

function idOf(span: Span): string {
  return span.spanContext().spanId
}

/** Adds the events of a run to its span, and ends it with the run. Never rejects. */
async function untilEnd(span: Span, run: Run): Promise<void> {
  span.setAttribute(ATTRIBUTES.conversation, run.conversation)
  try {
    for await (const event of run) note(span, event)
    const { reason, usage } = await run.result
    span.setAttributes({ [ATTRIBUTES.runReason]: reason, ...usageAttributes(usage) })
  } catch (error) {
    const failure = thrown(error)
    // The agent was closed, and the run continues later.
    if (failure.code === 'interrupted') span.setAttribute(ATTRIBUTES.runReason, failure.code)
    else markFailed(span, failure)
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

/** Returns the token usage of a step or a run, as attributes. */
export function usageAttributes(usage: TokenUsage): Attributes {
  return {
    [ATTRIBUTES.inputTokens]: usage.inputTokens ?? undefined,
    [ATTRIBUTES.outputTokens]: usage.outputTokens ?? undefined,
    [ATTRIBUTES.cacheReadTokens]: usage.cachedInputTokens,
    [ATTRIBUTES.cacheWriteTokens]: usage.cacheWriteTokens,
    [ATTRIBUTES.cost]: usage.cost,
  }
}

/** Marks a span as failed, with the code and a safe message. */
export function markFailed(span: Span, { code, message }: CallError): void {
  const safe = safeMessage(message)
  span.setAttribute(ATTRIBUTES.error, code)
  span.setStatus({ code: SpanStatusCode.ERROR, message: safe })
  span.addEvent(EVENTS.exception, {
    [ATTRIBUTES.exceptionType]: code,
    [ATTRIBUTES.exceptionMessage]: safe,
  })
}

/** Returns a thrown value as an error with a code. */
export function thrown(error: unknown): CallError {
  const code = error instanceof ByrefError ? error.code : 'run_failed'
  return { code, message: errorMessage(error) }
}

const MAX_READ = 4_000
const MAX_SAID = 500

/** Returns a short message without anything that looks like a secret or a body. */
function safeMessage(message: string): string {
  const read = redactText(message.slice(0, MAX_READ))
  const text = read
    .replace(/\bdata:[^\s"'<>()]*/gi, 'data:…')
    .replace(/[A-Za-z0-9+/_=-]{64,}/g, ({ length }) => `[${length} characters]`)
  return text.length > MAX_SAID ? `${text.slice(0, MAX_SAID - 1).toWellFormed()}…` : text
}

/** The metadata key with the span in which a message was sent, in the form of W3C Trace Context. */
const KEY = 'traceparent'

const FORM = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/**
 * Puts the span into the metadata of the first message, so that the run continues its trace in any process. Without a span, an
 * existing one is removed.
 */
export function withTraceparent<Messages>(messages: Messages, span: SpanContext | null): Messages {
  if (!Array.isArray(messages)) return messages
  const [first, ...rest] = messages
  const { metadata = {} } = Object(first)
  // The agent rejects invalid messages.
  if (!isPlainObject(first) || !isPlainObject(metadata)) return messages
  const { [KEY]: before, ...others } = metadata
  const parent = span && isSpanContextValid(span) ? { [KEY]: formatTraceparent(span) } : {}
  if (before === undefined && !(KEY in parent)) return messages
  return [{ ...first, metadata: { ...others, ...parent } }, ...rest] as Messages
}

/** Returns the span in which a message was sent, or null. */
function traceparentOf(message: Message | undefined): SpanContext | null {
  const metadata: unknown = message?.metadata
  const value = isPlainObject(metadata) ? metadata[KEY] : null
  const [, traceId, spanId, flags] = (typeof value === 'string' && FORM.exec(value)) || []
  if (!traceId || !spanId || !flags) return null
  const span = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(span) ? span : null
}

function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
}
