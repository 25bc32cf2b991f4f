import { assetMeta } from '../../content/asset-meta.ts'
import { cutMark } from '../../content/cut.ts'
import type { NamespaceOption } from '../asset-locator.ts'
import type { AssetWriter } from '../asset-writer.ts'
import type { AssetInfo, Assets, ImportOptions } from '../assets-contract.ts'
import { streamFrom } from '../bodies/body.ts'
import { textEncodingOf } from '../bodies/text-encoding.ts'
import { defined } from '../defined.ts'
import { readTable, tableFormat } from './read-table.ts'
import type { Table } from './table.ts'
import { TableError } from './table-error.ts'

const CHUNK = 64 * 1024
/** As many rows as a meta shows, or as few as have this many cells. */
const SAMPLE = { most: 100, least: 3, cells: 10_000 }

/** `importFile`; `open` reads a file that was saved, as often as it is asked. */
export function createImporter(
  writer: Pick<AssetWriter, 'save' | 'saveEncoded'>,
  open: (asset: AssetInfo, options: NamespaceOption) => Promise<ReadableStream<Uint8Array>>,
): Assets['importFile'] {
  const { save, saveEncoded } = writer

  async function saveTable(
    asset: AssetInfo,
    table: Table,
    options: ImportOptions,
  ): Promise<AssetInfo> {
    const { by, tool, toolCallId, origin, namespace, expiresAt, signal } = options
    const about = defined({
      asset_type: 'table',
      asset_name: options.name,
      description: options.description,
      content_type: 'application/json',
    })
    const content = { columns: table.columns, rows: await sampleOf(table), source: asset.ref }
    const { asset_name: name, ...attributes } = about
    return saveEncoded(
      {
        name,
        body: streamFrom(() => tableJson(table, asset.ref)),
        attributes: {
          ...attributes,
          meta: assetMeta({ ...about, asset_id: '', content }),
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
    const { namespace, onProgress } = options
    const { size } = asset
    let phase: 'reading' | 'writing' = 'reading'
    const openCounted = async (): Promise<ReadableStream<Uint8Array>> => {
      const stream = await open(asset, { namespace })
      if (!onProgress) return stream
      return countBytes(stream, (bytes) => onProgress({ phase, bytes, size }))
    }
    try {
      const encoding = await textEncodingOf(await open(asset, { namespace }))
      const source = { name: options.name, size, encoding, open: openCounted }
      const table = await readTable(source, format)
      phase = 'writing'
      return { asset, table: table && (await saveTable(asset, table, options)) }
    } catch (error) {
      if (!(error instanceof TableError)) throw error
      const { line, reason, cause } = error
      throw new TableError({ name: options.name, line, reason, asset }, { cause })
    }
  }
}

/** The first rows as a meta shows them: cut, with their real number. */
async function sampleOf({ columns, rowCount, batches }: Table): Promise<unknown[]> {
  const fitting = Math.floor(SAMPLE.cells / Math.max(1, columns.length))
  const size = Math.min(SAMPLE.most, Math.max(SAMPLE.least, fitting))
  const rows: unknown[] = []
  for await (const batch of batches()) {
    rows.push(...batch)
    if (rows.length >= size) break
  }
  return rowCount > size ? [...rows.slice(0, size), cutMark(rowCount, 'items')] : rows
}

function countBytes(
  stream: ReadableStream<Uint8Array>,
  tell: (bytes: number) => void,
): ReadableStream<Uint8Array> {
  let bytes = 0
  return stream.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        tell(bytes)
        controller.enqueue(chunk)
      },
    }),
  )
}

/** The table's content as JSON, made row by row. */
async function* tableJson(table: Table, source: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  let text = `{"columns":${JSON.stringify(table.columns)},"rows":[`
  let separator = ''
  for await (const batch of table.batches()) {
    if (batch.length === 0) continue
    text += separator + JSON.stringify(batch).slice(1, -1)
    separator = ','
    if (text.length < CHUNK) continue
    yield encoder.encode(text)
    text = ''
  }
  yield encoder.encode(`${text}],"source":${JSON.stringify(source)}}`)
}
