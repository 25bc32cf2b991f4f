import type { TokenUsage } from './events.ts'

/** What two usages are together: what neither says stays unsaid. */
export function addUsage(sum: TokenUsage, more: TokenUsage | undefined): TokenUsage {
  const total: Record<string, number | null> = { inputTokens: null, outputTokens: null }
  for (const usage of [sum, more ?? {}]) {
    for (const [key, count] of Object.entries(usage)) {
      if (isCount(count)) total[key] = (total[key] ?? 0) + count
    }
  }
  return total as unknown as TokenUsage
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < Infinity
}
