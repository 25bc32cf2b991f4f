import type { Tool } from 'ai'
import type { Assets } from '../../assets/assets-contract.ts'
import { extractAssets } from '../../assets/extract/extract.ts'
import { isPlainJson } from '../../assets/extract/may-hold-assets.ts'
import { boundaryOf } from '../../boundary/boundary.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { callError } from '../../engine/calls/call-error.ts'

/** What the AI SDK shows its model of a result. */
export type ModelOutput = Awaited<ReturnType<NonNullable<Tool['toModelOutput']>>>

type ContentPart = Extract<ModelOutput, { type: 'content' }>['value'][number]

/** Whose result it is, and where its bodies go. */
export interface OutputOptions {
  assets: Assets
  toolName: string
  toolCallId: string
  /** Characters of JSON above which a result becomes an asset. */
  maxResultChars: number
}

/** A tool's value for its model: bodies as references, and all of it where it is long. Never rejects. */
export async function valueOutput(value: unknown, options: OutputOptions): Promise<ModelOutput> {
  try {
    const shown = await valueByReference(value, options)
    return typeof shown === 'string'
      ? { type: 'text', value: shown }
      : { type: 'json', value: shown as never }
  } catch (error) {
    return { type: 'error-text', value: callError(error).message }
  }
}

/** What a tool wants its model to be shown, with bodies as references, and all of it where it is long. Never rejects. */
export async function outputByReference(
  output: ModelOutput,
  options: OutputOptions,
): Promise<ModelOutput> {
  if (output.type === 'text' || output.type === 'json') {
    const { providerOptions } = output
    const shown = await valueOutput(output.value, options)
    return providerOptions ? ({ ...shown, providerOptions } as ModelOutput) : shown
  }
  if (output.type !== 'content') return output
  const value = await Promise.all(output.value.map((part) => partByReference(part, options)))
  return { ...output, value }
}

/** A tool's value with its bodies as references; all of it as one reference with a preview where it is long. */
export async function valueByReference(given: unknown, options: OutputOptions): Promise<JsonValue> {
  const { assets, toolName: tool, toolCallId, maxResultChars } = options
  // A copy, as the AI SDK makes one: whoever has the value may change it.
  const boundary = boundaryOf(() => assets)
  const call = { tool, toolCallId, maxResultChars }
  const value = isPlainJson(given) ? copyOf(given) : (await boundary.store(call, given)).value
  const offloaded = await boundary.offload(call, { value: value ?? null, events: [] })
  return offloaded.value as JsonValue
}

function copyOf(value: unknown): unknown {
  return typeof value === 'object' ? JSON.parse(JSON.stringify(value)) : value
}

/** A file as a URL of its asset; one that cannot be kept stays as it is. */
async function partByReference(part: ContentPart, options: OutputOptions): Promise<ContentPart> {
  const file = fileIn(part)
  if (!file) return part
  const { value } = await extractAssets(file.body, {
    ...{ assets: options.assets, by: 'tool', tool: options.toolName },
    toolCallId: options.toolCallId,
  })
  const { assetRef, mimeType } = Object(value) as { assetRef?: string; mimeType?: string }
  if (assetRef === undefined || mimeType === undefined) return part
  const filename = file.name === undefined ? {} : { filename: file.name }
  const data = { type: 'url', url: new URL(assetRef), originalUrl: assetRef } as const
  return { type: 'file', data, mediaType: mimeType, ...filename }
}

function fileIn(part: ContentPart): { body: unknown; name?: string } | null {
  if (part.type === 'file-data' || part.type === 'image-data') {
    return { body: { mimeType: part.mediaType, dataBase64: part.data } }
  }
  if (part.type !== 'file' || part.data.type !== 'data') return null
  const { data } = part.data
  const body =
    typeof data === 'string'
      ? { mimeType: part.mediaType, dataBase64: data }
      : { mimeType: part.mediaType, data }
  return { body, name: part.filename }
}
