import { fetchAssetTool, saveAssetTool } from '../../assets/native-tools.ts'
import { isPlainObject } from '../../content/json.ts'
import { ByrefError } from '../../errors.ts'
import type { Tool } from './tool.ts'

/** Tools that come with byref, by the names that `tools` takes (binary-assets.md, "Native Asset Tools"). */
export type NativeToolName = 'save_asset' | 'fetch_asset'

// Both read references themselves, so that a † names one and is not the bytes.
const NATIVE: Readonly<Record<NativeToolName, Tool>> = {
  save_asset: { ...saveAssetTool, outputPath: true } as Tool,
  fetch_asset: { ...fetchAssetTool, outputPath: false, maxResultChars: Infinity } as Tool,
}

/**
 * The tools that an agent has: native ones by their names, and both of them where the model gets no bytes by itself
 * (`resolveInLLM: false`).
 *
 * @throws ByrefError `config_invalid` for a name that is none, and for two tools with one id.
 */
export function resolveTools(
  tools: readonly (Tool | NativeToolName)[],
  resolveInLLM: boolean,
): Tool[] {
  const resolved = tools.map((tool) => {
    if (typeof tool !== 'string') return tool
    if (Object.hasOwn(NATIVE, tool)) return NATIVE[tool]
    const known = Object.keys(NATIVE).join(', ')
    throw new ByrefError('config_invalid', `There is no native tool "${tool}"; there are ${known}`)
  })
  const ids = new Set<string>()
  for (const { id } of resolved) {
    if (ids.has(id)) {
      throw new ByrefError('config_invalid', `Two tools have the id "${id}": ids must be unique`)
    }
    ids.add(id)
  }
  if (resolveInLLM) return resolved
  return [...resolved, ...Object.values(NATIVE).filter(({ id }) => !ids.has(id))]
}

/**
 * A result as the log keeps it: what `fetch_asset` read is there as its reference, never as its bytes, which reach the
 * model with the next prompt only (spec X6).
 */
export function fetchedByReference(value: unknown): unknown {
  if (!isPlainObject(value) || typeof value.assetRef !== 'string') return value
  if (typeof value.dataUrl !== 'string' && typeof value.base64 !== 'string') return value
  const { dataUrl, base64, mime, ...rest } = value
  const mimeType = typeof mime === 'string' ? mime : /^data:([^;,]*)/.exec(String(dataUrl))?.[1]
  return { ...rest, mimeType, fetched: true }
}
