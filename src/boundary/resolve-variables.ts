import type { Assets } from '../assets/assets-contract.ts'
import { documentForm } from '../assets/documents/document-form.ts'
import { ByrefError } from '../core/errors.ts'
import {
  type AssetRef,
  type AssetRefParts,
  formatAssetRef,
  isAssetRef,
  parseAssetRef,
} from '../core/refs/asset-ref.ts'
import { findTextMarks, type TextMark } from '../core/refs/text-marks.ts'
import { parseVariableRef } from '../core/refs/variable-ref.ts'
import { textOf } from './convert-asset.ts'
import type { DataReader } from './data-reader.ts'
import { Later, type Place, replacePlaces } from './replace-places.ts'
import { acceptsRefs, takesRefs } from './resolve-assets.ts'
import { jsonSchemaOf, type Tool } from './tool.ts'

/** Characters that are put into one text in place of its marks. The tool is given them, not the model: memory is the limit. */
const MAX_CHARS = 10_000_000

/** What the references in a call's arguments are read with. */
export interface VariableSource {
  reader: DataReader
  assets(): Assets
}

/**
 * A call's arguments with the values of `†` variables in place of these, anywhere, unless the tool forbids them (spec
 * D7), and in longer text with the text of what marks name (R13): `<|†state.total|>`, and `<|asset://…|>` where the parameter
 * takes references. What is put in is never scanned for more; `\\†state` is the text `†state` (R10).
 *
 * @throws what reading throws, VariableError among it; ByrefError `invalid_arguments` for arguments nested too deep, for a
 * variable in a longer text without its marks, and for a value too long for a text
 */
export async function resolveVariables(
  tool: Tool,
  args: Record<string, unknown>,
  source: VariableSource,
): Promise<Record<string, unknown>> {
  if (tool.variables === false) return args
  const schema = jsonSchemaOf(tool)
  return replacePlaces(args, takesRefs(schema) ? schema : null, (value, place) => {
    if (typeof value !== 'string') return value
    if (!value.includes('†') && !value.includes('<|')) return value
    if (parseVariableRef(value) === null) return fillInMarks(value, place, source)
    const found = source.reader.read(value)
    return found instanceof Promise ? new Later(() => found) : found
  })
}

/** The text with what its marks name; a {@link Later} where that has to be read first. */
export function fillInMarks(text: string, place: Place, source: VariableSource): unknown {
  const takesAssets = place.alternatives().some(acceptsRefs)
  const marks = findTextMarks(text).filter((mark) => {
    if (mark.type === 'bare' && source.reader.knows(mark.ref)) throw bare(mark.text)
    return mark.type === 'asset' ? takesAssets : mark.type !== 'bare'
  })
  const join = (texts: readonly string[]): string => {
    const parts = marks.map(({ start }, i) => text.slice(marks[i - 1]?.end ?? 0, start) + texts[i])
    return parts.join('') + text.slice(marks.at(-1)?.end ?? 0)
  }
  if (marks.every(({ type }) => type === 'escape')) return join(marks.map(() => ''))
  return new Later(async () => {
    const texts: string[] = []
    let left = MAX_CHARS
    // One after the other: what is too much is not read.
    for (const mark of marks) {
      const found = await textFor(mark, source, left)
      left -= found.length
      texts.push(found)
    }
    const filled = join(texts)
    // What an asset holds is no reference of the call's, and would be taken for one now.
    if (takesAssets && isAssetRef(filled) && marks.some(({ type }) => type === 'asset')) {
      throw new ByrefError(
        'invalid_arguments',
        `${text.slice(0, 200)} stands for ${filled.slice(0, 200)}, a reference: pass that, without <| and |>`,
      )
    }
    return filled
  })
}

async function textFor(
  mark: TextMark,
  { reader, assets }: VariableSource,
  left: number,
): Promise<string> {
  if (mark.type === 'asset') {
    return bounded(await assetText(mark.ref, assets(), left), refText(mark.ref), left)
  }
  if (mark.type !== 'variable') return ''
  const value = await reader.read(mark.text)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return bounded(text, mark.text, left)
}

async function assetText(ref: AssetRef, assets: Assets, left: number): Promise<string> {
  const { size, mime } = await assets.info(ref)
  // Four bytes are at most one character; a field may be small in a large asset, and text in a document.
  const isText = !ref.field_path && !documentForm(mime)
  if (isText && size > left * 4) throw tooLong(refText(ref), `${size} bytes`)
  return textOf(ref, assets)
}

function bounded(text: string, name: string, left: number): string {
  if (text.length <= left) return text
  throw tooLong(name, `${text.length} characters`)
}

function tooLong(name: string, size: string): ByrefError {
  return new ByrefError(
    'invalid_arguments',
    `${name} has ${size} as text, and at most ${MAX_CHARS.toLocaleString('en')} characters fit into one text together: pass the reference alone as the parameter, or name a field of it (…/content/key)`,
  )
}

function bare(name: string): ByrefError {
  return new ByrefError(
    'invalid_arguments',
    `${name} stands in a longer text, where variables need marks: write <|${name}|> for its value, or \\${name} for these letters`,
  )
}

function refText(ref: AssetRef): string {
  return formatAssetRef(parseAssetRef(ref) as AssetRefParts)
}
