import { resultShape } from '../../../boundary/result-shape.ts'
import type { Tool } from '../../../boundary/tool.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { redactedText } from '../../../core/labels/redact-value.ts'
import { dataInText } from '../../json-in-text.ts'
import type { Fields } from '../rpc/json-rpc.ts'
import type { SaveBody } from '../save-body.ts'

/** A result as a client in quarantine sees it. */
export interface RedactedResult {
  /** The reference of the first value. */
  ref?: string
  /** One line for each value: its reference, type and rough size, and of the first the fields that its tool promises. */
  text: string
}

interface StoredValue {
  ref: string
  /** What `standIn` describes: the value, or what is known of a file. */
  value: unknown
}

/** More blocks are stored as one value. */
const MAX_BLOCKS = 20

/**
 * Stores every value of a result, and returns their names alone.
 *
 * @param name The name of the assets.
 */
export async function redactResult(
  result: Fields,
  name: string,
  { save, tool }: { save: SaveBody; tool?: Tool },
): Promise<RedactedResult> {
  const stored = await storeValues(result, name, save)
  const shape = resultShape(tool)
  const lines = stored.map(({ ref, value }, i) => redactedText(ref, value, i === 0 ? shape : null))
  return { ref: stored[0]?.ref, text: lines.join('\n') || '<untrusted nothing>' }
}

async function storeValues(result: Fields, name: string, save: SaveBody): Promise<StoredValue[]> {
  const { _meta, resultType, ...rest } = result
  const { structuredContent, content, contents, messages } = rest
  const blocks = [content, contents, messages].find(Array.isArray) as unknown[] | undefined
  const isData = structuredContent !== undefined
  if (!isData && !blocks) return [await storeJson(rest, name, save)]
  // Servers repeat structured content as text.
  const beside = (blocks ?? []).filter((one) => !isData || Object(one).type !== 'text')
  const data = isData ? [storeJson(structuredContent, name, save)] : []
  const others =
    beside.length > MAX_BLOCKS
      ? [storeJson(beside, name, save)]
      : beside.map((block) => storeBlock(block, name, save))
  return Promise.all([...data, ...others])
}

async function storeBlock(given: unknown, name: string, save: SaveBody): Promise<StoredValue> {
  const block = isPlainObject(given) && isPlainObject(given.content) ? given.content : given
  if (!isPlainObject(block)) return storeJson(block, name, save)
  const { type, resource } = block
  const body = isPlainObject(resource) ? resource : block
  const { text, data = body.blob } = body
  if (typeof text === 'string') {
    const value = dataInText(text)
    const mimeType = value === undefined ? 'text/plain' : 'application/json'
    return storeBody({ text, mimeType }, value ?? text, { name, save })
  }
  if (typeof data !== 'string') return storeJson(block, name, save)
  const kind = type === 'image' || type === 'audio' ? type : 'file'
  const about = { assetRef: 'asset://body', kind, size: Math.round((data.length * 3) / 4) }
  return storeBody(body, about, { name, save })
}

function storeJson(value: unknown, name: string, save: SaveBody): Promise<StoredValue> {
  const text = JSON.stringify(value) ?? 'null'
  return storeBody({ text, mimeType: 'application/json' }, value, { name, save })
}

async function storeBody(
  body: Fields,
  value: unknown,
  { name, save }: { name: string; save: SaveBody },
): Promise<StoredValue> {
  const saved = await save(body, name)
  // A body that claims to be base64 may be none.
  return saved ? { ref: saved.ref, value } : storeJson(body, name, save)
}
