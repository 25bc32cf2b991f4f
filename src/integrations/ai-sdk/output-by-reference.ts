import type { JSONValue } from '@ai-sdk/provider'
import type { Assets } from '../../assets/assets-contract.ts'
import { keepResult, type StoringCall, storeResult } from '../../boundary/store.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { callError } from '../../engine/run-errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { dataOrText } from '../json-in-text.ts'
import { isAssetUrl, type ModelOutput, outputValue } from '../model-output.ts'

const { isDeepStrictEqual } = nodeBuiltin('node:util')

type ContentPart = Extract<ModelOutput, { type: 'content' }>['value'][number]

/** The call whose result is stored, and the assets where its bodies and long values go. */
export interface ResultOptions extends StoringCall {
  assets: Assets
}

/** Converts a tool's value to output by reference for its model. Never rejects. */
export async function valueOutput(value: unknown, options: ResultOptions): Promise<ModelOutput> {
  try {
    const shown = await valueByReference(value, options)
    return typeof shown === 'string'
      ? { type: 'text', value: shown }
      : { type: 'json', value: shown as JSONValue }
  } catch (error) {
    return { type: 'error-text', value: callError(error).message }
  }
}

/** Converts an output that the tool made itself to output by reference. Never rejects. */
export async function outputByReference(
  output: ModelOutput,
  options: ResultOptions,
): Promise<ModelOutput> {
  if (output.type === 'text' || output.type === 'json') {
    const { providerOptions } = output
    const shown = await valueOutput(output.value, options)
    return providerOptions ? ({ ...shown, providerOptions } as ModelOutput) : shown
  }
  if (output.type !== 'content') return output
  const value = await Promise.all(output.value.map((part) => partByReference(part, options)))
  const content = { ...output, value }
  if (!value.every(isTextOrAsset)) return content
  // Long text becomes a reference, and so do bytes in JSON, such as those of MCP servers.
  const parts = value.map((part) => dataOrText(outputValue({ type: 'content', value: [part] })))
  const given = parts.length === 1 ? parts[0] : parts
  const shown = await valueOutput(given, options)
  return isDeepStrictEqual(outputValue(shown), given) ? content : shown
}

function isTextOrAsset(part: ContentPart): boolean {
  return part.type === 'text' || (part.type === 'file' && isAssetUrl(part.data))
}

/** Returns a tool's value with references in place of bodies. A long value becomes one reference with a preview. */
export async function valueByReference(given: unknown, options: ResultOptions): Promise<JsonValue> {
  const { value = null } = await keepResult(options, given, () => options.assets)
  // The app may change its value later, so the model gets a copy.
  const isShared = value === given && typeof given === 'object'
  return isShared ? JSON.parse(JSON.stringify(given)) : value
}

/** Returns a file as the URL of its asset. A file that cannot be stored stays as it is. */
async function partByReference(part: ContentPart, options: ResultOptions): Promise<ContentPart> {
  const body = bodyOf(part)
  if (!body) return part
  const stored = await storeResult(options, body, () => options.assets).catch(() => null)
  const { assetRef, mimeType } = Object(stored?.value) as { assetRef?: string; mimeType?: string }
  if (assetRef === undefined || mimeType === undefined) return part
  const filename = 'filename' in part && part.filename ? { filename: part.filename } : {}
  const data = { type: 'url', url: new URL(assetRef), originalUrl: assetRef } as const
  return { type: 'file', data, mediaType: mimeType, ...filename }
}

function bodyOf(part: ContentPart): Record<string, unknown> | null {
  if (part.type === 'file-data' || part.type === 'image-data') {
    return { mimeType: part.mediaType, dataBase64: part.data }
  }
  if (part.type !== 'file' || part.data.type !== 'data') return null
  const { data } = part.data
  return { mimeType: part.mediaType, [typeof data === 'string' ? 'dataBase64' : 'data']: data }
}
