import { type Message, readMetadata } from 'byref/client'
import { isRecord } from '../ui/is-record.ts'
import { answeredCall, ledgerOf } from './ledger.ts'

/** The name of the tool that finds tools. */
export const SEARCH_TOOLS = 'search_tools'

/** A search for tools in a conversation. */
export interface ToolSearch {
  callId: string
  /** The index of the message with its result. */
  at: number
  query: string
  group: string | null
  /** The names of the tools that it found, best first. */
  found: string[]
  /** The size of its result, in bytes. */
  bytes: number
}

const encoder = new TextEncoder()
const cache = new WeakMap<readonly Message[], readonly ToolSearch[]>()

/** Returns the searches of a conversation that have a result, in the order of their results. */
export function searchesOf(messages: readonly Message[]): readonly ToolSearch[] {
  const known = cache.get(messages)
  if (known) return known
  const ledger = ledgerOf(messages)
  const searches = messages.flatMap((message, at): ToolSearch[] => {
    const { result } = readMetadata(message)
    const call = result && answeredCall(message, ledger)
    const { content } = message
    if (call?.name !== SEARCH_TOOLS || !isRecord(content) || !Array.isArray(content.tools))
      return []
    const { query, group } = call.arguments
    return [
      {
        callId: call.id,
        at,
        query: typeof query === 'string' ? query : '',
        group: typeof group === 'string' ? group : null,
        found: content.tools.flatMap((tool: unknown) =>
          isRecord(tool) && typeof tool.name === 'string' ? [tool.name] : [],
        ),
        bytes: encoder.encode(JSON.stringify(content)).length,
      },
    ]
  })
  cache.set(messages, searches)
  return searches
}

/** Returns the searches whose results were there when the model wrote a message. */
export function searchesBefore(
  messages: readonly Message[],
  messageId: string,
): readonly ToolSearch[] {
  const place = messages.findIndex(({ id }) => id === messageId)
  const searches = searchesOf(messages)
  return place < 0 ? searches : searches.filter(({ at }) => at < place)
}
