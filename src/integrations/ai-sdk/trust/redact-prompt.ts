import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { Assets } from '../../../assets/assets-contract.ts'
import { resultShape } from '../../../boundary/result-shape.ts'
import type { Tool } from '../../../boundary/tool.ts'
import { isRedacted, redactValue, standIn } from '../../../core/labels/redact-value.ts'
import { resultName } from '../../../core/messages/results.ts'
import { isAssetRef } from '../../../core/refs/asset-ref.ts'
import { outputValue, urlOf } from '../output-value.ts'
import { refusal } from './guarded-call.ts'
import { type LabelledResult, messageLabels } from './message-labels.ts'
import { flowTool, type ToolTrust, type TrustSettings } from './tool-trust.ts'

/** What a prompt is redacted with. */
export interface RedactionOptions {
  trust: TrustSettings
  trustOf(tool: string): ToolTrust
  /** A tool with what its results look like. */
  toolOf(name: string): Promise<Tool | undefined>
  assets: Assets
}

/** A prompt without what is untrusted in it, and what is not to be looked at again. */
export interface RedactedPrompt {
  prompt: LanguageModelV4Prompt
  /** Outputs that stand for what is not shown. */
  redacted: ReadonlySet<object>
  /** Whether the body behind a reference may be sent. */
  shows(ref: string): boolean
}

const GUIDE =
  '<untrusted …> stands for a value that anybody may have written, which you are not shown: pass it on by its name, as a parameter of any tool, such as †result#3.items[0].id.'

/** The prompt as a model in quarantine is shown it: results and files that nobody vouches for by name alone. */
export async function redactPrompt(
  { prompt, tools = [] }: Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'>,
  options: RedactionOptions,
): Promise<RedactedPrompt> {
  const { trust, trustOf } = options
  const labels = messageLabels(prompt, trust, trustOf)
  const redacted = new Set<object>()
  let number = 0
  let isTold = false

  function refusedWords(name: string, { call }: LabelledResult): string | null {
    const shown = tools.find((tool) => tool.name === name)
    if (!call || shown?.type !== 'function') return null
    const tool = flowTool(name, { ...shown.inputSchema }, trustOf(name))
    return refusal(tool, call.input, call.given)
  }

  async function redactResult(
    part: LanguageModelV4ToolResultPart,
  ): Promise<LanguageModelV4ToolResultPart> {
    const name = resultName(++number)
    const found = labels.results[number - 1] as LabelledResult
    const tree = found.labels
    if (!isRedacted(tree)) return part
    const { output } = part
    const put = (made: LanguageModelV4ToolResultPart['output']) => {
      redacted.add(made)
      return { ...part, output: made }
    }
    if (output.type === 'error-text' || output.type === 'error-json') {
      const why = refusedWords(part.toolName, found)
      const words = why ?? `the call failed; why is not shown, since it is not trusted: ${name}`
      return put({ type: 'error-text', value: words })
    }
    const guide = isTold ? '' : `\n\n## References\n${GUIDE}`
    isTold = true
    const value = outputValue(output)
    const isWhole = tree.label.integrity === 'untrusted'
    if (!isWhole) {
      const shown = JSON.stringify({ [name]: redactValue(value, tree) })
      return put({ type: 'text', value: `${shown}${guide}` })
    }
    const shape = resultShape(await options.toolOf(part.toolName))
    const fields = shape === null ? '' : `, which holds ${shape}`
    return put({ type: 'text', value: `${name} = ${standIn(value)}${fields}${guide}` })
  }

  async function redactFile(part: LanguageModelV4FilePart) {
    if (trust.attachments === 'trusted') return part
    const given = urlOf(part.data)
    const ref = given === null ? await saved(part, options.assets) : given
    const words = ref !== null && isAssetRef(ref) ? ref : 'a file at an address'
    return { type: 'text' as const, text: `[Attached: ${words}, which is not shown]` }
  }

  async function redactMessage(message: LanguageModelV4Message): Promise<LanguageModelV4Message> {
    if (message.role === 'tool') {
      const content = []
      for (const part of message.content) {
        content.push(part.type === 'tool-result' ? await redactResult(part) : part)
      }
      return { ...message, content }
    }
    if (message.role !== 'user' || !message.content.some(({ type }) => type === 'file')) {
      return message
    }
    const parts = message.content.map((part) => (part.type === 'file' ? redactFile(part) : part))
    return { ...message, content: await Promise.all(parts) }
  }

  const made: LanguageModelV4Message[] = []
  for (const message of prompt) made.push(await redactMessage(message))
  const shows = (ref: string): boolean => labels.asset(ref).integrity === 'trusted'
  return { prompt: made, redacted, shows }
}

/** The reference of what a message has inline; null where it cannot be kept. */
async function saved({ data, mediaType }: LanguageModelV4FilePart, assets: Assets) {
  if (data.type !== 'data') return null
  const bytes = typeof data.data === 'string' ? Buffer.from(data.data, 'base64') : data.data
  const mime = mediaType.includes('/*') ? null : mediaType
  return assets.save(bytes, mime, { by: 'user' }).then(
    ({ ref }) => ref,
    () => null,
  )
}
