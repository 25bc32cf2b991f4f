import type { FullAssetStore } from '../src/assets/asset-store.ts'
import type { Tool } from '../src/boundary/tool.ts'
import type { FinishReason, TokenUsage } from '../src/core/events/events.ts'
import type { ConversationLog } from '../src/log/conversation-log.ts'
import type { CapabilityOverrides } from '../src/models/capabilities.ts'
import type { LanguageModel, RetryOptions } from '../src/models/language-model.ts'
import {
  choose,
  type Mode,
  type Outcome,
  type ReceivedCall,
  type TaskInstance,
} from './eval-task.ts'

/** Where the conversations of an evaluation are stored. */
export interface EvalStorage {
  store: FullAssetStore
  log(): ConversationLog
}

/** Options for playing a task. */
export interface PlayOptions {
  model: LanguageModel
  capabilities: CapabilityOverrides
  retry: RetryOptions
  /** Maximum number of model calls for one message of the user. */
  maxSteps: number
  signal: AbortSignal
  /** Where the conversation is stored, with its id and title; null for nowhere. */
  keep: { storage: EvalStorage; id: string } | null
}

/** One played task. */
export interface Play {
  outcome: Outcome
  /** How the last run ended. */
  reason: FinishReason
  usage: TokenUsage
  /** Number of model calls. */
  roundTrips: number
  large: LargeArguments
}

/** Characters of large arguments, by how the model passed them. */
export interface LargeArguments {
  written: number
  referenced: number
}

/** The instructions of the model in every task. */
export const INSTRUCTIONS =
  'You are an agent with tools. Do exactly what the user asks, with the tools where they are needed, and then answer in one or two sentences.'

/** An argument with at least this many characters of JSON is large. */
const LARGE = 200

/** Records what tools receive, and which large arguments the model wrote itself. */
export class Recorder {
  readonly received: ReceivedCall[] = []
  readonly #inputs = new Map<string, unknown>()

  /** Returns the same tools; their inputs are recorded. */
  watch(tools: readonly Tool[]): Tool[] {
    return tools.map((tool) => ({
      ...tool,
      execute: (input, context) => {
        this.received.push({ name: tool.id, input: structuredClone(input) })
        this.#inputs.set(context.toolCallId, input)
        return tool.execute(input, context)
      },
    }))
  }

  /** Compares what the model wrote with what the tools received. Calls that failed count as written. */
  large(written: readonly { id: string; arguments: object }[]): LargeArguments {
    const sum: LargeArguments = { written: 0, referenced: 0 }
    for (const { id, arguments: args } of written) {
      const input = Object(this.#inputs.get(id))
      for (const [key, value] of Object.entries(args)) {
        const own = lengthOf(value)
        if (own >= LARGE) sum.written += own
        else if (lengthOf(input[key]) >= LARGE) sum.referenced += lengthOf(input[key])
      }
    }
    return sum
  }
}

function lengthOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0
}

/** Returns the user's messages. */
export function messagesOf({ says }: TaskInstance, mode: Mode): readonly string[] {
  return typeof says === 'function' ? says(choose(mode)) : says
}

/** Returns the instance's decision about a call. */
export function answerOf({ approve }: TaskInstance, name: string) {
  return approve?.(name) ?? { approved: false, reason: 'Nobody approved this call.' }
}

/** Adds up token counts. A count that the provider did not report makes the sum unknown. */
export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  const both = (one: number | null, other: number | null): number | null =>
    one === null || other === null ? null : one + other
  const cost = a.cost === undefined || b.cost === undefined ? {} : { cost: a.cost + b.cost }
  return {
    inputTokens: both(a.inputTokens, b.inputTokens),
    outputTokens: both(a.outputTokens, b.outputTokens),
    cachedInputTokens: (a.cachedInputTokens ?? 0) + (b.cachedInputTokens ?? 0),
    cacheWriteTokens: (a.cacheWriteTokens ?? 0) + (b.cacheWriteTokens ?? 0),
    ...cost,
  }
}

/** No tokens. */
export const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0, cost: 0 }
