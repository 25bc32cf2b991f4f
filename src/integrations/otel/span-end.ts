import { type Attributes, type Span, SpanStatusCode } from '@opentelemetry/api'
import { ByrefError, errorMessage } from '../../core/errors.ts'
import type { CallError, TokenUsage } from '../../core/events/events.ts'
import { redactText } from '../../log/redact.ts'
import { ATTRIBUTES, EVENTS } from './span-names.ts'

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
