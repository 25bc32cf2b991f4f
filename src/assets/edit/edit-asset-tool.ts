import { refOf } from '../asset-tool-input.ts'
import type { AssetTool } from '../asset-tools.ts'
import type { Edit } from './edit.ts'

/** A text that may be a reference to a longer one. */
const NEW_TEXT = { type: 'string', asset_ref_acceptable: true } as const

/** `edit_asset`: changes parts of a text, of JSON or of a table, and saves the result as a new version. */
export const editAssetTool: AssetTool = {
  id: 'edit_asset',
  description:
    'Changes parts of an asset and gives the reference of the new version, with a diff. Text: {find, replace, occurrence?: 1 or "all"}, {insert, before} or {insert, after}, or {lines: [first, last], firstLine: its text now, replace}. JSON: JSON Patch {op, path, value}. Table: one {sql: select … from rows}. Edits apply in order, all or none',
  inputSchema: {
    type: 'object',
    properties: {
      ref: { type: 'string' },
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
  async execute({ edits, ...input }, { assets, signal }) {
    const { ref, asset, changes, diff } = await assets.edit(refOf(input), edits as Edit[], {
      signal,
    })
    return { assetRef: ref, size: asset.size, changes, diff }
  },
}
