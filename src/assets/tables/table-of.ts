import { formatAssetRef, parseAssetRef } from '../../core/refs/asset-ref.ts'
import type { NamespaceOption } from '../asset-locator.ts'
import type { AssetReader } from '../asset-reader.ts'
import type { Importer } from './import-file.ts'
import { derivedIds } from './table-facts.ts'

/** What is needed to find and import the table of a file. */
export interface TableImports extends Pick<AssetReader, 'info' | 'resolve'> {
  importSaved: Importer['importSaved']
}

/**
 * Returns the reference of the table that a reference names, or what the reference names instead. A file is imported at
 * its first use. The sheets of a workbook need their own references, so that labels include them.
 */
export async function tableOf(
  assets: TableImports,
  ref: string,
  { namespace, signal }: NamespaceOption & { signal?: AbortSignal },
): Promise<{ table: string } | { table: null; problem: string }> {
  const info = await assets.info(ref, { namespace })
  if (info.table) return { table: ref }
  const made = info.structured ? null : await assets.importSaved(info, { namespace, signal })
  const book = made ? made.workbook?.ref : ref
  const { sheets } = Object(book && (await assets.resolve(book, { namespace }))) as Fields
  const numbers = Object.entries(Object(sheets)).filter(([, number]) => Number.isInteger(number))
  if (numbers.length > 0) {
    const file = info.structured ? info.assetId.replace(/-workbook$/, '') : info.assetId
    const named = numbers.map(([name, number]) => {
      const sheet = formatAssetRef({
        ...parseAssetRef(info.ref),
        id: derivedIds(file).sheet(Number(number)),
        fieldPath: [],
      })
      return `${JSON.stringify(name)} is ${sheet}`
    })
    return { table: null, problem: `a workbook; name one of its sheets: ${named.join(', ')}` }
  }
  if (made?.table) return { table: made.table.ref }
  return { table: null, problem: `${info.mime} and not a table` }
}

type Fields = Record<string, unknown>
