import type { Assets } from '../../assets/assets-contract.ts'
import { extensionOf } from '../../assets/bodies/mime-type.ts'
import type { JsonSchema } from '../../boundary/describe-schema.ts'
import type { Tool } from '../../boundary/tool.ts'
import { textStart } from '../../core/json/cut.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { type AssetRef, parseAssetRef } from '../../core/refs/asset-ref.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { plainTool, resolveReferences } from '../plain-tools.ts'

/** In the `_meta` of a tool: whether its server runs on another machine, where paths of this one mean nothing. */
export const REMOTE = 'byref/remote'

/** Returns the folder for files whose paths are arguments of a tool; undefined if its server runs elsewhere. */
export function filesFor({ _meta }: { _meta?: unknown }, files?: string): string | undefined {
  return Object(_meta)[REMOTE] === true ? undefined : files
}

/**
 * Returns a tool of an MCP server in the form that the boundary takes.
 *
 * @param files The folder for files whose paths are arguments. Without it, no parameter takes a path.
 */
export function mcpTool(id: string, inputSchema: JsonSchema, files?: string): Tool {
  return plainTool(id, files === undefined ? inputSchema : withPaths(inputSchema))
}

/**
 * Puts values in place of the references in a call's arguments. With `files`, a parameter that takes a path gets that of a
 * new file.
 *
 * @throws ByrefError of the reference that failed, or `invalid_arguments` for one that does not fit
 */
export async function resolveArguments(
  tool: Tool,
  args: Record<string, unknown>,
  { assets, files }: { assets: Assets; files?: string },
): Promise<Record<string, unknown>> {
  const saveFile = files && ((ref: string | AssetRef) => saveAsFile(files, ref, assets))
  return resolveReferences(tool, args, { assets, ...(saveFile && { saveFile }) })
}

const { randomUUID } = nodeBuiltin('node:crypto')
const { createWriteStream } = nodeBuiltin('node:fs')
const { mkdir } = nodeBuiltin('node:fs/promises')
const { join } = nodeBuiltin('node:path')
const { pipeline } = nodeBuiltin('node:stream/promises')

/** Maximum length of the name of a file, without its extension. A disk takes 255 bytes, and a letter may have three. */
const MAX_NAME = 80

/** Returns whether text looks like a path: `/a b/c.txt`, `src/index.ts`, `notes.txt`. */
function looksLikePath(text: string): boolean {
  if (text.length > 1_024 || /[<>|"*?\r\n]/.test(text)) return false
  return /^(~|\.{1,2})?[\\/]|^[a-z]:[\\/]|^file:|^\S*[\\/.]\w*[a-z]\w*$/i.test(text)
}

/**
 * Saves an asset as a file in a folder of its own, under its own name, and returns the path. A field that is a path
 * itself, such as one that another tool listed, is returned.
 */
async function saveAsFile(folder: string, ref: string | AssetRef, assets: Assets): Promise<string> {
  if ((parseAssetRef(ref)?.fieldPath ?? []).length > 1) {
    const value = await assets.resolve(ref)
    if (typeof value === 'string' && looksLikePath(value)) return value
  }
  const { stream, info, mime } = await assets.open(ref)
  const own = join(folder, randomUUID())
  await mkdir(own, { recursive: true, mode: 0o700 })
  const path = join(own, await fileName({ name: mime === info.mime ? info.name : null, mime }))
  await pipeline(stream, createWriteStream(path, { mode: 0o600 }))
  return path
}

async function fileName({ name, mime }: { name: string | null; mime: string }): Promise<string> {
  const safe = (name ?? '').replace(/[^\p{L}\p{N} ._-]/gu, '_').replace(/^[ .]+/, '')
  if (/\.\w+$/.test(safe)) return safe.slice(-MAX_NAME).toWellFormed()
  return `${textStart(safe, MAX_NAME) || 'file'}.${await extensionOf(mime)}`
}

/**
 * Marks the parameters that take the path of a file, as `format: 'path'`: text whose name has "path", or whose name
 * has "file" and whose description has "path".
 */
function withPaths(schema: JsonSchema): JsonSchema {
  const { properties } = schema
  if (!isPlainObject(properties)) return schema
  const marked = Object.entries(properties).map(([name, one]) => [name, markedAt(name, one)])
  return { ...schema, properties: Object.fromEntries(marked) }
}

/** Names of paths that lead to a place in a document, or are a part of a URL. */
const OTHER_PATH = /^(x|json|url)[_-]?path$/i

function markedAt(name: string, schema: unknown): unknown {
  if (!isPlainObject(schema)) return schema
  const { type, items, description, format, contentEncoding, enum: values } = schema
  const types = [type].flat()
  if (types.includes('object')) return withPaths(schema)
  if (types.includes('array') && isPlainObject(items)) {
    return { ...schema, items: markedAt(name, { description, ...items }) }
  }
  const isOther = format ?? contentEncoding ?? values
  if (!types.includes('string') || isOther !== undefined) return schema
  const words = typeof description === 'string' ? description : ''
  const isPath =
    (/path/i.test(name) && !OTHER_PATH.test(name)) ||
    (/file/i.test(name) && /\bpath\b/i.test(words))
  return isPath && !/\bbase64\b|\bdata ur[il]/i.test(words) ? { ...schema, format: 'path' } : schema
}
