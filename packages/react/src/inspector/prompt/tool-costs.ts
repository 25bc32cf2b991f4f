import type { ReadPrompt } from './read-prompt.ts'

/** What tools cost in a prompt, in bytes. */
export interface ToolCosts {
  /** The schemas of the tools in the prompt. */
  schemas: number
  /** The results of searches in the prompt. */
  results: number
  /** The number of these results. */
  searches: number
  /** The schemas of all tools that a search replaces, and of those that are in the prompt anyway. */
  all: number
}

/** Tools that exist only so that others can be found. */
const ADDED = ['search_tools', 'call_tool']

/** Returns what tools cost in a prompt from which some were left out; null if none were. */
export function toolCosts(
  { tools, searches }: Pick<ReadPrompt, 'tools' | 'searches'>,
  deferred: { bytes: number } | null,
): ToolCosts | null {
  if (!deferred) return null
  const sum = (list: readonly { bytes: number }[]) =>
    list.reduce((all, { bytes }) => all + bytes, 0)
  const others = tools.filter(({ name }) => !ADDED.includes(name))
  return {
    schemas: sum(tools),
    results: sum(searches),
    searches: searches.length,
    all: sum(others) + deferred.bytes,
  }
}
