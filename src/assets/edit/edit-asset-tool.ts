import { isPlainObject } from '../../core/json/json.ts'
import { isAssetRef } from '../../core/refs/asset-ref.ts'
import type { AssetRefInput } from '../asset-locator.ts'
import { refOf, type ToolInput } from '../asset-tool-input.ts'
import type { AssetTool, AssetToolContext } from '../asset-tools.ts'
import type { Edit } from './edit.ts'
import { editValue } from './edit-asset.ts'

/** A text that may be a reference to a longer one. */
const NEW_TEXT = { type: 'string', asset_ref_acceptable: true } as const

/**
 * `edit_asset`: changes parts of a text, of JSON or of a table. An asset gets a new version: the result has its
 * reference. A value that is not an asset is returned: the result has the new `value`.
 */
export const editAssetTool: AssetTool = {
  id: 'edit_asset',
  description:
    'Changes parts of an asset. Returns the new version as assetRef, with a diff. Text: {find: exact text, replace}, with occurrence: its number or "all" if the text occurs more than once; {insert, before: text} or {insert, after: text}, or {lines: [first, last], firstLine: the current text of line first, replace}. JSON: JSON Patch {op, path, value}. Table: one {sql: select … from rows}. Edits apply in order, all or none',
  inputSchema: {
    type: 'object',
    properties: {
      // Any value may come from a † path.
      ref: { anyOf: [{ asset_ref_acceptable: true, asset_ref_as: 'ref' }, {}] },
      edits: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            find: { type: 'string' },
            replace: NEW_TEXT,
            occurrence: {},
            insert: NEW_TEXT,
            before: { type: 'string' },
            after: { type: 'string' },
            lines: { type: 'array', items: { type: 'integer' } },
            firstLine: { type: 'string' },
            op: { type: 'string' },
            path: { type: 'string' },
            from: { type: 'string' },
            value: { asset_ref_acceptable: true },
            sql: { type: 'string' },
          },
        },
      },
    },
    required: ['ref', 'edits'],
  },
  async execute(input, { assets, signal }) {
    const edited = await edit(input, { assets, signal })
    if ('value' in edited) return edited
    const { ref, asset, changes, diff } = edited
    return { assetRef: ref, mimeType: asset.mime, size: asset.size, changes, diff }
  },
  async preview(input, { assets, signal }) {
    const { diff } = await edit(input, { assets, signal }, true)
    return diff
  },
}

function edit({ ref, ...input }: ToolInput, { assets, signal }: AssetToolContext, dryRun = false) {
  const edits = input.edits as Edit[]
  const asset = ref === undefined ? refOf(input) : assetOf(ref)
  // Any other value is that of a † path.
  return asset === null ? editValue(ref, edits) : assets.edit(asset, edits, { dryRun, signal })
}

/** Returns the asset that a value names: as a reference, or as a result with an `assetRef`. */
function assetOf(value: unknown): AssetRefInput | null {
  if (isAssetRef(value)) return value as AssetRefInput
  if (!isPlainObject(value)) return null
  const { asset_id, assetRef } = value
  if (isAssetRef(assetRef)) return assetRef as AssetRefInput
  const isRef = Object.keys(value).every((key) => REF_KEYS.has(key))
  return isRef && typeof asset_id === 'string' ? { ...value, asset_id } : null
}

/** The keys of a reference as an object. An object with other keys is data. */
const REF_KEYS: ReadonlySet<string> = new Set(['asset_id', 'namespace', 'field_path'])
