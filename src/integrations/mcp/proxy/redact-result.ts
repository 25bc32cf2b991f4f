import { resultShape } from '../../../boundary/result-shape.ts'
import type { Tool } from '../../../boundary/tool.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { redactedText } from '../../../core/labels/redact-value.ts'
import { dataInText } from '../../json-in-text.ts'
import type { SaveBody } from '../assets-for-clients.ts'
import type { Fields } from '../rpc/json-rpc.ts'

type Save = (body: Fields) => ReturnType<SaveBody>

/** More blocks are stored as one value. */
const MAX_BLOCKS = 20

/**
 * Stores every value of a result. Returns the reference of the first one, and a text with one line for each: its
 * reference, type and rough size. The first line also has the fields that the tool promises.
 */
export async function redactResult(
  { _meta, resultType, ...result }: Fields,
  { save, tool }: { save: Save; tool?: Tool },
) {
  const { structuredContent, content, contents, messages } = result
  const blocks = [content, contents, messages].find(Array.isArray) as unknown[] | undefined
  const isData = structuredContent !== undefined
  // Servers repeat structured content as text.
  const others = (blocks ?? []).filter((one) => !isData || Object(one).type !== 'text')
  const bodies = others.length > MAX_BLOCKS ? [jsonBody(others)] : others.map(bodyOf)
  if (isData) bodies.unshift(jsonBody(structuredContent))
  else if (!blocks) bodies.push(jsonBody(result))
  const shape = resultShape(tool)
  const stored = await Promise.all(bodies.map((body) => storeBody(body, save)))
  const lines = stored.map(({ ref, value }, i) => redactedText(ref, value, i === 0 ? shape : null))
  return { ref: stored[0]?.ref, text: lines.join('\n') || '<untrusted nothing>' }
}

/** A body to save, and the value or the file data that its description is made from. */
interface Body {
  fields: Fields
  value: unknown
}

async function storeBody(
  { fields, value }: Body,
  save: Save,
): Promise<{ ref: string; value: unknown }> {
  const saved = await save(fields)
  // Data that claims to be base64 may be invalid.
  return saved ? { ref: saved.ref, value } : storeBody(jsonBody(fields), save)
}

function jsonBody(value: unknown): Body {
  return { fields: { text: JSON.stringify(value) ?? 'null', mimeType: 'application/json' }, value }
}

function bodyOf(given: unknown): Body {
  const block = isPlainObject(given) && isPlainObject(given.content) ? given.content : given
  if (!isPlainObject(block)) return jsonBody(block)
  const { type, resource } = block
  const fields = isPlainObject(resource) ? resource : block
  const { text, data = fields.blob } = fields
  if (typeof text === 'string') {
    const value = dataInText(text)
    const mimeType = value === undefined ? 'text/plain' : 'application/json'
    return { fields: { text, mimeType }, value: value ?? text }
  }
  if (typeof data !== 'string') return jsonBody(block)
  const kind = type === 'image' || type === 'audio' ? type : 'file'
  const size = Math.round((data.length * 3) / 4)
  return { fields, value: { assetRef: 'asset://body', kind, size } }
}
