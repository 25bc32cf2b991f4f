import { readFile, realpath } from 'node:fs/promises'
import { basename, relative, resolve, sep } from 'node:path'
import { defineTool } from 'byref'
import type { TableRows } from 'byref/stores'
import { z } from 'zod'

/** The file goes to the store. The model gets a reference, the columns and the first rows. */
export const openFile = defineTool({
  id: 'open_file',
  description: 'Opens a file of this folder. CSV and JSON become tables',
  inputSchema: z.object({ path: z.string().describe('For example rain.csv') }),
  idempotent: true,
  async execute({ path }, { assets }) {
    const bytes = await readFile(await insideThisFolder(path))
    const { asset, table } = await assets.importFile(bytes, { name: basename(path) })
    return { ref: (table ?? asset).ref, bytes: bytes.length }
  },
})

/** The model passes the reference, and this tool reads all rows. */
export const summarize = defineTool({
  id: 'summarize',
  description: 'Count, total and average of a column of numbers',
  inputSchema: z.object({
    rows: z.custom<TableRows>().meta({ asset_ref_acceptable: true, asset_ref_as: 'rows' }),
    column: z.string(),
  }),
  idempotent: true,
  async execute({ rows, column }) {
    let count = 0
    let total = 0
    for await (const row of rows.select({ columns: [column] })) {
      count++
      total += Number(row[column])
    }
    const round = (value: number) => Math.round(value * 100) / 100
    return { column, count, total: round(total), average: round(total / count) }
  },
})

/** The tools of the agent. Add your own here. */
export const tools = [openFile, summarize]

/** The model chooses paths, so none may lead out of this folder, or to hidden files such as .env. */
async function insideThisFolder(path: string): Promise<string> {
  const folder = await realpath('.')
  const file = await realpath(resolve(path))
  const parts = relative(folder, file).split(sep)
  if (!file.startsWith(folder + sep) || parts.some((part) => part.startsWith('.')))
    throw new Error(`${path} is hidden or not in this folder`)
  return file
}
