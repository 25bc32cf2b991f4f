import type { TokenUsage } from '../core/events/events.ts'
import type { ModelPrice } from './catalogue.ts'

/** The usage with what it cost, where that is known. */
export function withCost(usage: TokenUsage, price: ModelPrice | null): TokenUsage {
  const cost = price && costOf(usage, price)
  return cost === null ? usage : { ...usage, cost }
}

/** What tokens cost in US dollars; null where nothing was counted. What was cached costs what the price says of it. */
export function costOf(usage: TokenUsage, price: ModelPrice): number | null {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage
  if (inputTokens === null && outputTokens === null) return null
  const { input, output, cacheRead = input, cacheWrite = input } = price
  const plain = Math.max(0, (inputTokens ?? 0) - cachedInputTokens - cacheWriteTokens)
  const sum =
    plain * input +
    cachedInputTokens * cacheRead +
    cacheWriteTokens * cacheWrite +
    (outputTokens ?? 0) * output
  return sum / 1_000_000
}
