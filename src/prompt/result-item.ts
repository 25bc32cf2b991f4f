import { kindOf } from '../assets/bodies/mime-type.ts'
import type { JsonValue } from '../core/json/json.ts'
import type { Message, ToolCall, ToolResultMark } from '../core/messages/message.ts'
import { escapeBlocks } from '../core/messages/metas-block.ts'
import type { OffloadedValue } from '../core/messages/offloaded.ts'
import { asModelWrote, readMetadata } from '../core/messages/read-metadata.ts'
import { resultName } from '../core/messages/results.ts'
import { bodiesIn, isPerceived, type KnownAssets } from './mentions.ts'
import type { MediaPart, ResultItem } from './transcript-item.ts'

/** A result in the conversation. */
export interface LoggedResult {
  message: Message
  /** Its number in the conversation, from 1. */
  number: number
  /** The index of its message. */
  index: number
}

/** A result as the model sees it. */
export interface ShownResult {
  item: ResultItem
  /** The references of the assets that it names. */
  names: ReadonlySet<string>
  /** The references of those assets of which it shows a preview. */
  previewed: ReadonlySet<string>
  /** Bodies that `fetch_asset` has read. They are shown in the next prompt only. */
  fetched: readonly MediaPart[]
  /** Whether the result's name is shown with it. */
  named: boolean
}

/** Results longer than this are shown with their name, in characters. */
const NAMED_CHARS = 200

/** Length of the beginning of an old result that is still shown, in characters. */
const BEGINNING = 120

/** Converts the result of a call to what the model sees: the value, or only its name if the result is old. */
export function resultItem(
  call: ToolCall,
  result: Pick<LoggedResult, 'message' | 'number'> | undefined,
  { known, whole }: { known: KnownAssets; whole: boolean },
): ShownResult {
  const ids = { toolCallId: call.id, toolName: asModelWrote(call).name }
  const none = new Set<string>()
  const nothing = { names: none, previewed: none, fetched: [], named: false }
  const error = result && readMetadata(result.message).result?.error
  const note = result ? changeNote(result.message) : ''
  if (!result || error) {
    const value = error
      ? `${note}${error.code}: ${error.message}`
      : 'interrupted: The call has no result. It may or may not have taken effect. Check before you repeat it.'
    return {
      ...nothing,
      item: { ...ids, isError: true, output: { type: 'text', value }, media: [] },
    }
  }
  const logged = shownValue(result.message)
  const found = bodiesIn(logged, known)
  const value = found.names.size > 0 ? withShortRefs(logged) : logged
  const text = typeof value === 'string' ? escapeBlocks(value) : JSON.stringify(value)
  const named = text.length > NAMED_CHARS
  const output = named
    ? { type: 'text' as const, value: `${note}${namedText(text, result.number, whole)}` }
    : typeof value === 'string' || note !== ''
      ? { type: 'text' as const, value: `${note}${text}` }
      : { type: 'json' as const, value }
  const item = { ...ids, isError: false, output, media: found.media }
  const { names, previewed, fetched } = found
  return { item, names, previewed, fetched, named }
}

/** Returns a note that a person changed the arguments of the call. Empty if nobody did. */
function changeNote({ metadata }: Message): string {
  const { changed_arguments: changed } = Object(metadata?.tool_result) as Partial<ToolResultMark>
  if (changed === undefined) return ''
  return `A person changed the arguments to ${JSON.stringify(changed)} before the call ran.\n`
}

function namedText(text: string, number: number, whole: boolean): string {
  if (whole) return `${resultName(number)}\n${text}`
  return `${resultName(number)}: ${text.length} characters, no longer shown. It begins with ${text.slice(0, BEGINNING)}…`
}

/** Returns the tool's model output, with the place of the result, or else the result itself. */
function shownValue({ content, metadata }: Message): JsonValue {
  const { model_output: value, written_to } = Object(metadata?.tool_result) as {
    model_output?: JsonValue
    written_to?: JsonValue
  }
  const { assetRef, offloaded } = Object(content) as Partial<OffloadedValue>
  if (value === undefined) return (content ?? null) as JsonValue
  const isKept = offloaded === true && assetRef !== undefined
  if (written_to === undefined && !isKept) return value
  return {
    ...(written_to === undefined ? {} : { written_to }),
    ...(isKept ? { assetRef, offloaded } : {}),
    value,
  }
}

/**
 * Shortens the references in a value. The kind of an asset is left out, because its MIME type implies it. The MIME type
 * is left out if the model sees the file or its marker.
 */
function withShortRefs(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withShortRefs)
  const { assetRef, mimeType, fetched } = value as Record<string, JsonValue>
  const isReference = typeof assetRef === 'string' && typeof mimeType === 'string'
  const isShown =
    isReference && fetched !== true && isPerceived({ kind: kindOf(mimeType), mimeType })
  const entries = Object.entries(value).filter(
    ([key]) => !(isReference && key === 'kind') && !(isShown && key === 'mimeType'),
  )
  return Object.fromEntries(entries.map(([key, item]) => [key, withShortRefs(item)]))
}
