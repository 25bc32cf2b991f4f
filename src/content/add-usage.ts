import type { TokenUsage } from './events.ts'

/** What two usages are together: what neither says stays unsaid. */
export function addUsage(sum: TokenUsage, more: TokenUsage | undefined): TokenUsage {
  const total: Record<string, number | null> = { inputTokens: null, outputTokens: null }
  for (const usage of [sum, more ?? {}]) {
    for (const [key, count] of Object.entries(usage)) {
      if (typeof count === 'number') total[key] = (total[key] ?? 0) + count
    }
  }
  return total as unknown as TokenUsage
}
