import { readFileSync } from 'node:fs'
import { PNG } from 'pngjs'
import { z } from 'zod'
import type { Task } from '../play.ts'
import { found } from '../words.ts'

const csv = readFileSync(
  new URL('../../node_modules/vega-datasets/data/seattle-weather.csv', import.meta.url),
  'utf8',
)
const QUESTION = 'Chart the precipitation by month. Which month is the wettest?'
const MONTHS = Array.from({ length: 12 }, (_, i) => `2012-${String(i + 1).padStart(2, '0')}`)
const VALUES = [173.3, 92.3, 183, 68.1, 52.2, 75.1, 26.3, 0, 0.9, 170.3, 210.5, 174]
const picture = new Uint8Array(PNG.sync.write(new PNG({ width: 640, height: 400 })))

/** A table is attached and charted. By value, the model reads the rows and adds them up itself. */
export const tables: Task = {
  name: 'table to chart',
  about: 'a CSV of 1,461 rows (48 kB), charted by month',
  isLarge: true,
  async byref(assets) {
    const { table } = await assets.importFile(Buffer.from(csv), { name: 'seattle-weather.csv' })
    return {
      tools: [
        {
          id: 'chart',
          description: 'Groups rows, adds up a column and draws a bar chart',
          input: z.object({
            rows: z.array(z.record(z.string(), z.unknown())).meta({ asset_ref_acceptable: true }),
            group_by: z.enum(['day', 'month', 'year']),
            value: z.string().describe('The column that is added up'),
          }),
          execute: ({ rows }: { rows: unknown[] }) => ({
            title: `precipitation by month of ${rows.length} rows`,
            picture,
            bars: MONTHS.map((month, i) => ({ month, precipitation: VALUES[i] })),
          }),
        },
      ],
      says: [
        { role: 'user', content: QUESTION, metadata: { attachments: [{ assetRef: table?.ref }] } },
      ],
      answers: [
        (options) => ({
          calls: [
            {
              name: 'chart',
              arguments: {
                rows: `asset://${found(options, /asset_id\\": \\"(\w+)/)}/content/rows`,
                group_by: 'month',
                value: 'precipitation',
              },
            },
          ],
        }),
        (options) =>
          `![precipitation](<|${found(options, /(asset:\/\/\w{20,})/)}|>)\nNovember 2012 was the wettest month, with 210.5 mm.`,
      ],
    }
  },
  value: () => ({
    tools: [
      {
        id: 'chart',
        description: 'Draws a bar chart',
        input: z.object({ labels: z.array(z.string()), values: z.array(z.number()) }),
        execute: () => ({ url: 'https://files.example/chart-1.png' }),
        toModelOutput: ({ url }: { url: string }) => ({
          type: 'content',
          value: [
            { type: 'text', text: url },
            { type: 'file', mediaType: 'image/png', data: { type: 'data', data: picture } },
          ],
        }),
      },
    ],
    says: [{ role: 'user', content: `${QUESTION}\n\nseattle-weather.csv:\n${csv}` }],
    answers: [
      { calls: [{ name: 'chart', arguments: { labels: MONTHS, values: VALUES } }] },
      '![precipitation](https://files.example/chart-1.png)\nNovember 2012 was the wettest month, with 210.5 mm.',
    ],
  }),
}
