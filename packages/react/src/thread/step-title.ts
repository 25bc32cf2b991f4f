import type { ToolCall } from 'byref/client'

const INTENT =
  /^(?:(?:okay|ok|sure|first|now|next|then|great|alright)[,:!]?\s+)*(?:(?:i(?:['’]ll| will| am going to|['’]m going to| need to| want to)|let me|let['’]s)\s+)?(?:now\s+|first\s+)?/i

const LONGEST = 140

/**
 * Returns a title for a step: the first sentence of its commentary without "I will", or else the names of its tools.
 */
export function stepTitle(
  commentary: unknown,
  calls: readonly (Pick<ToolCall, 'name'> & Partial<ToolCall>)[],
): string {
  const sentence = typeof commentary === 'string' ? firstSentence(plain(commentary)) : ''
  const said = sentence.replace(INTENT, '')
  if (said !== '') return capitalised(said).slice(0, LONGEST)
  const names = Map.groupBy(calls, ({ name }) => name)
  const tools = [...names].map(([name, some]) => {
    const query = name === 'search_tools' ? some[0]?.arguments?.query : undefined
    // An agent with many tools searches often: the words tell its searches apart.
    const what =
      typeof query === 'string'
        ? `${readable(name)} for “${query.slice(0, LONGEST)}”`
        : readable(name)
    return some.length > 1 && names.size > 1 ? `${what} × ${some.length}` : what
  })
  return capitalised(tools.join(', ')) || 'Step'
}

/** Returns a tool's name as words: `chart_rows` is "chart rows". */
function readable(name: string): string {
  return name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/[_\-.:/]+/g, ' ')
    .trim()
    .toLowerCase()
}

/** Removes Markdown marks within a sentence. */
function plain(text: string): string {
  return text
    .slice(0, 2_000)
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<\|[^|]*\|>/g, '')
    .replace(/^[#>\-*\s]+/, '')
    .replace(/[`*]|__/g, '')
}

function firstSentence(text: string): string {
  const line = text.split('\n').find((one) => one.trim() !== '') ?? ''
  const [sentence = ''] = line.split(/(?<=[.!?…:])\s/, 1)
  return sentence.replace(/[.:…\s]+$/, '').trim()
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
