import { open } from 'node:fs/promises'
import { openParquet, type ParquetFile } from './parquet-file.ts'
import { declaredType } from './parquet-values.ts'
import { sourceOf } from './spool.ts'
import { MAX_COLUMNS, TableError } from './table-error.ts'
import type { TableColumn } from './table-facts.ts'
import type { NamedFile, TaskResult } from './table-task.ts'

/** Maximum number of rows in a group, because reading one row may read its group. */
const MAX_GROUP_ROWS = 5_000_000

/**
 * Reads a Parquet file as a table. It is read once to count empty cells and find damage, and then stored unchanged.
 *
 * @throws TableError for a damaged file, or one that cannot become a table
 */
export async function readParquetTable({ name, path }: NamedFile): Promise<TaskResult> {
  const handle = await open(path, 'r')
  try {
    const file = await openParquet(await sourceOf(handle), { name })
    checkShape(file, name)
    return { columns: await columnsOf(file), rows: file.rows }
  } finally {
    await handle.close()
  }
}

function checkShape({ columns, groups }: ParquetFile, name: string): void {
  const names = new Set(columns.map((column) => column.name))
  const reason =
    columns.length === 0
      ? 'it has no columns.'
      : names.size < columns.length
        ? 'two of its columns have the same name.'
        : columns.length > MAX_COLUMNS
          ? `it has ${columns.length} columns, and a table has at most ${MAX_COLUMNS}.`
          : groups.some(({ rows }) => rows > MAX_GROUP_ROWS)
            ? `one of its row groups has more than ${MAX_GROUP_ROWS} rows: write it in smaller ones.`
            : null
  if (reason !== null) throw new TableError({ name, line: null, reason })
}

function columnsOf(file: ParquetFile): Promise<TableColumn[]> {
  return Array.fromAsync(file.columns.entries(), async ([place, column]) => {
    const { missing, isSmall } = await profile(file, place)
    const declared = declaredType(column)
    const type =
      missing === file.rows && file.rows > 0
        ? 'empty'
        : declared === 'integer' && isSmall
          ? 'number'
          : declared
    const { scale = 0 } = column.element
    return { name: column.name, type, missing, ...(type === 'decimal' && { scale }) }
  })
}

/** Counts the empty cells of a column, and tests whether doubles keep all of its whole numbers. */
async function profile(
  file: ParquetFile,
  place: number,
): Promise<{ missing: number; isSmall: boolean }> {
  let missing = 0
  let isSmall = true
  for (const { start, rows } of file.groups) {
    for (const [cell] of await file.read([place], start, start + rows)) {
      if (cell === null || cell === undefined) missing++
      else if (typeof cell === 'bigint' && isSmall) isSmall = Number.isSafeInteger(Number(cell))
    }
  }
  return { missing, isSmall }
}
