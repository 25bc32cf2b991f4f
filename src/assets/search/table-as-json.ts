import { parseAssetRef } from '../../refs/asset-ref.ts'
import type { Assets } from '../assets-contract.ts'
import { jsonLine } from '../tables/json-line.ts'
import type { TableRows } from '../tables/table-rows.ts'

const CHUNK = 64 * 1024

/** The content of a table, or its rows, as JSON that is made row by row; null for anything else. */
export async function tableAsJson(
  assets: Assets,
  ref: string,
  signal: AbortSignal | undefined,
): Promise<AsyncIterable<string> | null> {
  const { table } = await assets.info(ref)
  const path = parseAssetRef(ref)?.fieldPath?.join('/') ?? 'content'
  if (!table || (path !== 'content' && path !== 'content/rows')) return null
  const rows = await assets.rows(ref, { signal })
  if (path === 'content/rows') return rowsText(rows, '[', ']')
  const before = `{"columns":${JSON.stringify(rows.columns)},"rows":[`
  return rowsText(rows, before, `],"source":${JSON.stringify(table.source)}}`)
}

async function* rowsText(rows: TableRows, before: string, after: string): AsyncGenerator<string> {
  let text = before
  let separator = ''
  for await (const row of rows) {
    text += separator + jsonLine(row)
    separator = ','
    if (text.length < CHUNK) continue
    yield text
    text = ''
  }
  yield text + after
}
