import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider'
import type { Assets } from '../../../assets/assets-contract.ts'
import { resultShape } from '../../../boundary/result-shape.ts'
import type { Tool } from '../../../boundary/tool.ts'
import { isRedacted, redactedText, redactValue } from '../../../core/labels/redact-value.ts'
import { resultName } from '../../../core/messages/results.ts'
import { isAssetRef } from '../../../core/refs/asset-ref.ts'
import { urlOf } from '../../model-output.ts'
import { denialIn, type LabelledResult, MessageLabels } from '../../trust/message-labels.ts'
import type { MessageTrust } from '../../trust/tool-trust.ts'

/** The context of a prompt that is redacted. */
interface PromptRedaction {
  trust: MessageTrust
  /** The wrapped tools, by name. */
  tools: ReadonlyMap<string, { described(): Promise<Tool> }>
  assets: Assets
}

/** A prompt without untrusted values. */
export type RedactedPrompt = Awaited<ReturnType<typeof redactPrompt>>

type Part = Exclude<LanguageModelV4Message['content'], string>[number]

const GUIDE =
  '\n\n## References\n<untrusted …> hides a value that anybody may have written. Pass its name, such as †result#3.items[0].id, as a parameter of any tool.'

/** Returns the prompt as a model in quarantine sees it: untrusted results and files by name only. */
export async function redactPrompt(
  prompt: LanguageModelV4Prompt,
  { trust, tools, assets }: PromptRedaction,
) {
  const labels = new MessageLabels(prompt, trust)
  const redacted = new Set<object>()
  let number = 0
  let guide = GUIDE

  async function redactPart(part: Part): Promise<Part> {
    if (part.type === 'file') return redactedFile(part, assets)
    if (part.type !== 'tool-result') return part
    const result = labels.results[number++]
    const name = resultName(number)
    if (!result || !isRedacted(result.labels)) return part
    const tool = await tools
      .get(part.toolName)
      ?.described()
      .catch(() => undefined)
    const isError = part.output.type === 'error-text' || part.output.type === 'error-json'
    const text = isError
      ? ((tool && denialIn(result, tool, String(result.value))) ?? failureText(name))
      : `${valueText(name, result, tool)}${guide}`
    if (!isError) guide = ''
    const output = { type: isError ? 'error-text' : 'text', value: text } as const
    redacted.add(output)
    return { ...part, output }
  }

  // One part after the other, because results are numbered.
  const made = await Array.fromAsync(prompt, async (message) => {
    const isUsers = message.role === 'user' && trust.attachments === 'untrusted'
    if (message.role !== 'tool' && !isUsers) return message
    const content = await Array.fromAsync<Part, Promise<Part>>(message.content, redactPart)
    return { ...message, content } as LanguageModelV4Message
  })
  return {
    prompt: made,
    /** The outputs that stand for a redacted value. They stay as they are. */
    redacted,
    /** Returns whether the body behind a reference may be sent. */
    shows: (ref: string): boolean => labels.asset(ref).integrity === 'trusted',
  }
}

function valueText(
  name: string,
  { value, labels }: LabelledResult,
  tool: Tool | undefined,
): string {
  return labels.label.integrity === 'untrusted'
    ? redactedText(name, value, resultShape(tool))
    : JSON.stringify({ [name]: redactValue(value, labels) })
}

function failureText(name: string): string {
  return `the call failed. Its error message is not shown, because it is not trusted: ${name}`
}

async function redactedFile({ data, mediaType }: LanguageModelV4FilePart, assets: Assets) {
  const ref =
    urlOf(data) ?? (data.type === 'data' ? await savedRef(data.data, mediaType, assets) : '')
  const name = isAssetRef(ref) ? ref : 'a file at an address'
  return { type: 'text' as const, text: `[Attached: ${name}, which is not shown]` }
}

/** Returns the reference of an inline file; empty if it cannot be saved. */
async function savedRef(data: string | Uint8Array, type: string, assets: Assets): Promise<string> {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'base64') : data
  const mime = type.includes('/*') ? null : type
  return assets.save(bytes, mime, { by: 'user' }).then(
    ({ ref }) => ref,
    () => '',
  )
}
