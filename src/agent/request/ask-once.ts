import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { TokenUsage } from '../../core/events/events.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { askedSchema, finalText } from '../../engine/output/output-schema.ts'
import { ResponseReader } from '../../engine/steps/read-response.ts'
import { callModel } from '../../models/call-model.ts'
import type { ModelPrice } from '../../models/catalogue.ts'
import { jsonAnswer } from '../../models/json-answer.ts'
import type { LanguageModel } from '../../models/language-model.ts'
import { withCost } from '../../models/model-capabilities.ts'
import { callSettings, type ModelSettings, type RetryOptions } from '../../models/model-settings.ts'

/** The options of a model call, without its prompt. */
export interface AskOnceOptions {
  model: LanguageModel
  settings: ModelSettings
  /** JSON Schema of the answer. */
  schema: JsonObject
  retry?: RetryOptions
  modelTimeoutMs?: number
  signal?: AbortSignal
  /** Called with the token usage of each answer. */
  onUsage?(usage: TokenUsage): void
  /** Null if the model's price is unknown. */
  price: ModelPrice | null
}

/** Returns a function that asks a model for a text answer, without tools or a conversation. */
export function askOnce({
  model,
  settings,
  schema,
  retry,
  modelTimeoutMs,
  signal = new AbortController().signal,
  onUsage,
  price,
}: AskOnceOptions): (
  prompt: LanguageModelV4Prompt,
) => Promise<{ text: string; usage: TokenUsage }> {
  return async (prompt) => {
    const reader = new ResponseReader((id) => id)
    const options = callSettings(settings, { hasTools: false })
    await callModel({
      model,
      options: { ...options, prompt, ...jsonAnswer(askedSchema(schema), options) },
      signal,
      retry,
      silenceMs: modelTimeoutMs,
      onPart: (part) => reader.take(part),
    })
    reader.end()
    const text = finalText(reader.response.text, reader.response.parts)
    const usage = withCost(reader.response.usage, price)
    onUsage?.(usage)
    return { text, usage }
  }
}
