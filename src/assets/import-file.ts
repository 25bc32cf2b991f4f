import type { Asset } from '../content/asset.ts'
import { assetMeta } from '../content/asset-meta.ts'
import { newId } from '../content/new-id.ts'
import type { AssetWriter } from './asset-writer.ts'
import type { AssetInfo, Assets, ImportOptions } from './assets.ts'
import { streamFrom } from './body.ts'
import { TableError } from './table-error.ts'
import { readTable, type Table, tableFormat } from './tables.ts'

const CHUNK = 64 * 1024
/** As many rows as a meta shows. */
const SAMPLE = 100

/** `importFile` over the two halves of assets that it needs. */
export function createImporter(
  parts: Pick<AssetWriter, 'save' | 'saveEncoded'> & Pick<Assets, 'open'>,
): Assets['importFile'] {
  const { save, saveEncoded, open } = parts

  async function saveTable(
    asset: AssetInfo,
    table: Table,
    options: ImportOptions,
  ): Promise<AssetInfo> {
    const { by, tool, toolCallId, origin, namespace, expiresAt, signal } = options
    const sample: unknown[] = []
    for await (const row of table.rows()) {
      if (sample.push(row) >= SAMPLE) break
    }
    sample.length = table.rowCount
    const about = {
      asset_type: 'table',
      asset_id: newId(),
      asset_name: options.name,
      ...(options.description !== undefined && { description: options.description }),
      content_type: 'application/json',
    }
    const content = { columns: table.columns, rows: sample, source: asset.ref }
    const { asset_type, asset_id, asset_name, description, content_type } =
      about as typeof about & {
        description?: string
      }
    return saveEncoded(
      {
        assetId: asset_id,
        name: asset_name,
        body: streamFrom(() => tableJson(table, asset.ref)),
        attributes: {
          asset_type,
          ...(description !== undefined && { description }),
          content_type,
          meta: assetMeta({ ...about, content } as Asset),
          references: [asset.assetId],
        },
      },
      { by, tool, toolCallId, origin, namespace, expiresAt, signal },
    )
  }

  return async function importFile(body, options) {
    const asset = await save(body, options.mime, options)
    const format = tableFormat(asset.mime)
    if (format === null) return { asset, table: null }
    const { namespace } = options
    try {
      const table = await readTable(
        {
          name: options.name,
          size: asset.size,
          open: async () => (await open(asset.ref, { namespace })).stream,
        },
        format,
      )
      return { asset, table: table && (await saveTable(asset, table, options)) }
    } catch (error) {
      if (!(error instanceof TableError)) throw error
      const { line, reason, cause } = error
      throw new TableError({ name: options.name, line, reason, asset }, { cause })
    }
  }
}

/** The table's content as JSON, made row by row. */
async function* tableJson(table: Table, source: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let text = `{"columns":${JSON.stringify(table.columns)},"rows":[`
  let separator = ''
  for await (const row of table.rows()) {
    text += separator + JSON.stringify(row)
    separator = ','
    if (text.length < CHUNK) continue
    yield new TextEncoder().encode(text)
    text = ''
  }
  yield new TextEncoder().encode(`${text}],"source":${JSON.stringify(source)}}`)
}
