import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import { limitOf, type ModelCapabilities } from '../models/model-capabilities.ts'
import { toFilePart } from './file-part.ts'
import type { FilePart, ResolvedResult } from './transcript-item.ts'

/** The capabilities that determine where the files of results are sent. */
export type ResultCapabilities = Pick<
  ModelCapabilities,
  'takesInResults' | 'urlsInResults' | 'detailOption'
>

/**
 * Converts the results of one answer's calls to messages: one with the results, and after it a user message with
 * files that the model does not accept inside results.
 */
export function resultMessages(
  results: readonly ResolvedResult[],
  capabilities: ResultCapabilities,
): LanguageModelV4Message[] {
  const outside: (LanguageModelV4TextPart | LanguageModelV4FilePart)[] = []
  const content = results.map((result): LanguageModelV4ToolResultPart => {
    const { toolCallId, toolName } = result
    const files = result.media.filter((part) => part.type === 'file')
    const inside = files.filter((file) => !result.isError && goesInside(file, capabilities))
    for (const file of files.filter((one) => !inside.includes(one))) {
      outside.push({
        type: 'text',
        text: `[From the result of ${toolName}, call ${toolCallId}: ${file.ref}]`,
      })
      outside.push(toFilePart(file, capabilities))
    }
    const output = outputOf(
      result,
      inside.map((file) => toFilePart(file, capabilities)),
    )
    return { type: 'tool-result', toolCallId, toolName, output }
  })
  const messages: LanguageModelV4Message[] = [{ role: 'tool', content }]
  if (outside.length > 0) messages.push({ role: 'user', content: outside })
  return messages
}

function goesInside({ mediaType, data }: FilePart, capabilities: ResultCapabilities): boolean {
  if (data.type === 'url' && !capabilities.urlsInResults) return false
  return limitOf(capabilities.takesInResults, mediaType) !== null
}

function outputOf(
  { isError, output, media }: ResolvedResult,
  files: readonly LanguageModelV4FilePart[],
): LanguageModelV4ToolResultOutput {
  const notes = media.flatMap((part) => (part.type === 'text' ? part.text : []))
  if (notes.length === 0 && files.length === 0) {
    if (output.type === 'text')
      return { type: isError ? 'error-text' : 'text', value: output.value }
    return { type: isError ? 'error-json' : 'json', value: output.value }
  }
  const said = output.type === 'text' ? output.value : JSON.stringify(output.value)
  const text = [said, ...notes].join('\n')
  if (files.length === 0) return { type: isError ? 'error-text' : 'text', value: text }
  return { type: 'content', value: [{ type: 'text', text }, ...files] }
}
