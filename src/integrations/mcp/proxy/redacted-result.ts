import type { Assets } from '../../../assets/assets-contract.ts'
import { resultShape } from '../../../boundary/result-shape.ts'
import type { Tool } from '../../../boundary/tool.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { standIn } from '../../../core/labels/redact-value.ts'
import { dataInText } from '../../json-in-text.ts'
import type { Fields } from '../rpc/json-rpc.ts'
import { saveBody } from '../save-body.ts'

/** What is known of a result without looking at it. */
export interface RedactedFrom {
  /** Where its values are kept. */
  assets: Assets
  /** What they are called there. */
  name: string
  /** Until when. */
  expiresAt?(): Date
  /** The tool that gave it, as its server described it before it was called. */
  tool?: Tool
}

/** A value that is an asset now, and what its reader is told of it: its type and roughly its size. */
export interface RedactedValue {
  ref: string
  words: string
}

/** More blocks are one value. */
const MAX_BLOCKS = 20

/** Every value in a result of a server, kept as an asset; of none, nothing of it is told. */
export async function redactedValues(result: Fields, from: RedactedFrom): Promise<RedactedValue[]> {
  const { _meta, resultType, ...rest } = result
  const { structuredContent, content, contents, messages } = rest
  const blocks = [content, contents, messages].find(Array.isArray) as unknown[] | undefined
  const isData = structuredContent !== undefined
  // Servers say structured content once more as text.
  const beside = isData ? blocks?.filter((one) => Object(one).type !== 'text') : blocks
  if (!isData && !beside) return [await keepValue(rest, from)]
  const data = isData ? [await keepValue(structuredContent, from)] : []
  if (!beside || beside.length === 0) return data
  if (beside.length > MAX_BLOCKS) return [...data, await keepValue(beside, from)]
  return [...data, ...(await Promise.all(beside.map((one) => keepBlock(one, from))))]
}

/** What a reader is told of values: one line for each, with the fields that the tool promised. */
export function redactedWords(values: readonly RedactedValue[], tool?: Tool): string {
  const shape = resultShape(tool)
  const lines = values.map(({ ref, words }, i) => {
    const fields = shape !== null && i === 0 ? `, which holds ${shape}` : ''
    return `${ref} = ${words}${fields}`
  })
  return lines.join('\n') || '<untrusted nothing>'
}

async function keepBlock(given: unknown, from: RedactedFrom): Promise<RedactedValue> {
  const block = isPlainObject(given) && isPlainObject(given.content) ? given.content : given
  if (!isPlainObject(block)) return keepValue(block, from)
  const { type, resource } = block
  const body = isPlainObject(resource) ? resource : block
  if (typeof body.text === 'string') {
    const { text } = body
    const value = dataInText(text) ?? text
    const mimeType = value === text ? 'text/plain' : 'application/json'
    return keepBody({ text, mimeType }, standIn(value), from)
  }
  const kind = type === 'image' || type === 'audio' ? type : 'file'
  const data = body.data ?? body.blob
  if (typeof data !== 'string') return keepValue(block, from)
  const size = Math.round((data.length * 3) / 4)
  return keepBody(body, standIn({ assetRef: 'asset://body', kind, size }), from)
}

function keepValue(value: unknown, from: RedactedFrom): Promise<RedactedValue> {
  const text = JSON.stringify(value) ?? 'null'
  return keepBody({ text, mimeType: 'application/json' }, standIn(value), from)
}

async function keepBody(
  body: Fields,
  words: string,
  { assets, name, expiresAt }: RedactedFrom,
): Promise<RedactedValue> {
  const saved = await saveBody(body, assets, { name, expiresAt: expiresAt?.() })
  // What says that it is base64 and is none.
  if (!saved) return keepValue(body, { assets, name, expiresAt })
  return { ref: saved.ref, words }
}
