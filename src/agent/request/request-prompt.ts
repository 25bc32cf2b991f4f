import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Assets } from '../../assets/assets-contract.ts'
import { ContentCache } from '../../assets/content-access.ts'
import { createAssets } from '../../assets/create-assets.ts'
import { loadValidator, schemaIssues } from '../../boundary/validate.ts'
import { ConversationSource } from '../../boundary/value-source.ts'
import { createBoard } from '../../core/board/board.ts'
import type { TokenUsage } from '../../core/events/events.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { DataBlock, Message } from '../../core/messages/message.ts'
import { createResults } from '../../core/messages/results.ts'
import type { MessageInput } from '../../core/messages/to-message.ts'
import { askedSchema, finalText, inputOutput } from '../../engine/output/output-schema.ts'
import type { OutputSource } from '../../engine/output/run-output.ts'
import { ResponseReader } from '../../engine/steps/read-response.ts'
import { callModel } from '../../models/call-model.ts'
import { type CapabilityOverrides, capabilitiesOf } from '../../models/capabilities.ts'
import type { ModelPrice } from '../../models/catalogue.ts'
import { jsonAnswer } from '../../models/json-answer.ts'
import type { LanguageModel, ModelSettings, RetryOptions } from '../../models/language-model.ts'
import { withCost } from '../../models/model-capabilities.ts'
import { CACHE_BYTES } from '../../prompt/media/media-source.ts'
import { PromptBuilder } from '../../prompt/prompt-builder.ts'
import { acceptMessages, messagesIn } from '../accept-messages.ts'

/** Options of `request`. */
export interface RequestConfig {
  model: LanguageModel
  /** The system prompt: what the model is and how it should work. */
  instructions?: string
  /** Model settings, with the AI SDK's names. */
  settings?: ModelSettings
  /**
   * Requests one answer per instance (`_instance`) of the data messages, all in one model call. `output` then has each
   * answer under the name of its instance. Default false.
   */
  instances?: boolean
  /** Where attached assets are found. Default: in memory, for bodies that the messages contain. */
  assets?: Assets
  /** Capabilities of the model that override the catalogue. */
  capabilities?: CapabilityOverrides
  /** How a model call that failed is retried. */
  retry?: RetryOptions
  /** Maximum time between two parts of the model's answer, in milliseconds. Then the call fails. Default 600,000. */
  modelTimeoutMs?: number
  /** Aborting it ends the request. */
  signal?: AbortSignal
  /** Called with the token usage of each attempt, even if the request fails. */
  onUsage?(usage: TokenUsage): void
}

/** The prompt of a request, and the instances and output schema that its messages ask for. */
export interface RequestPrompt {
  messages: LanguageModelV4Prompt
  /** The names of the instances in the data, in order of first appearance. */
  instances: readonly string[]
  /** The schema of the result, from the last input message that has one. Null if none has. */
  output: JsonObject | null
  /** Where the references in the answer are read. */
  source: OutputSource
  /** Null if the model's price is unknown. */
  price: ModelPrice | null
}

/**
 * Builds the prompt. Each identity's data is one block, shown in full because the model has no tool to read
 * more. Everything else is shown as in a conversation.
 */
export async function requestPrompt(
  inputs: readonly MessageInput[],
  {
    model,
    assets = createAssets(),
    capabilities,
  }: Pick<RequestConfig, 'model' | 'assets' | 'capabilities'>,
): Promise<RequestPrompt> {
  await loadValidator()
  const { events } = await acceptMessages(inputs, assets, new Set())
  const messages = messagesIn(events)
  const board = createBoard(messages, { validate: schemaIssues })
  const created = events.flatMap((event) => (event.type === 'ASSET_CREATED' ? event.payload : []))
  const builder = new PromptBuilder({ merge: 'engine', wholeData: true, guide: () => null })
  const resolved = await capabilitiesOf(model, capabilities)
  const prompt = await builder.build(
    { state: { messages, assets: created, assetsAfter: [], compaction: null }, board },
    {
      system: [],
      tail: [],
      media: 'all',
      assets,
      namespace: null,
      capabilities: resolved,
      cache: new ContentCache(CACHE_BYTES),
    },
  )
  return {
    messages: prompt,
    instances: instancesOf(messages),
    output: inputOutput(messages),
    source: {
      values: new ConversationSource({ board, results: createResults(), assets }, { id: '' }),
      assets,
    },
    price: resolved.price,
  }
}

/** Asks the model for a text answer in JSON that fits the schema, without tools. Reports its usage to `onUsage`. */
export async function askOnce(
  { model, settings = {}, retry, modelTimeoutMs, signal, onUsage }: RequestConfig,
  prompt: LanguageModelV4Prompt,
  { schema, price }: { schema: JsonObject; price: ModelPrice | null },
): Promise<{ text: string; usage: TokenUsage }> {
  const reader = new ResponseReader((id) => id)
  const { toolChoice: _, ...options } = settings
  const usageSoFar = () => withCost(reader.response.usage, price)
  try {
    await callModel({
      model,
      options: { ...options, prompt, ...jsonAnswer(askedSchema(schema), options) },
      signal: signal ?? new AbortController().signal,
      retry,
      silenceMs: modelTimeoutMs,
      onPart: (part) => reader.take(part),
    })
  } catch (error) {
    if (reader.isCounted) onUsage?.(usageSoFar())
    throw error
  }
  const text = finalText(reader.response.text, reader.response.parts)
  const usage = usageSoFar()
  onUsage?.(usage)
  return { text, usage }
}

function instancesOf(messages: readonly Message[]): string[] {
  const names = messages.flatMap(({ content_type, content }) => {
    const name = content_type === 'data' ? (content as DataBlock)._instance : undefined
    return name === undefined ? [] : [name]
  })
  return [...new Set(names)]
}
