// A tool gets rows by reference. Its result becomes data, and the next call reads it with †.
import { createAgent, createAssets, defineTool } from 'byref'
import { scriptedModel } from 'byref/testing'
import { z } from 'zod'

const rows = z.array(z.record(z.string(), z.unknown()))
const total = defineTool({
  id: 'total',
  description: 'Adds up a column',
  inputSchema: z.object({
    rows: rows.meta({ asset_ref_acceptable: true }),
    column: z.string(),
  }),
  execute: ({ rows, column }) => ({
    total: rows.reduce((sum, row) => sum + Number(row[column]), 0),
  }),
})
const convert = defineTool({
  id: 'convert',
  description: 'Converts millimetres to inches',
  inputSchema: z.object({ millimetres: z.number() }),
  execute: ({ millimetres }) => ({ inches: millimetres / 25.4 }),
})

const assets = createAssets()
const csv = new TextEncoder().encode('day,rain\n2026-01-01,12.7\n2026-01-02,38.1\n')
const { table } = await assets.importFile(csv, { name: 'rain.csv' })
const ref = table?.ref ?? ''

const model = scriptedModel([
  {
    calls: [
      {
        name: 'total',
        arguments: { rows: `${ref}/content/rows`, column: 'rain', _outputPath: '†state.rain' },
      },
      // A call in the same answer. It waits for the call above.
      { name: 'convert', arguments: { millimetres: '†state.rain.total' } },
    ],
  },
  'Two inches.',
])
const agent = createAgent({ model, tools: [total, convert], assets })
const run = agent.run({
  messages: [{ role: 'user', content: 'How much rain?', attachments: [{ assetRef: ref }] }],
})
await run.result
for (const { content, metadata } of run.messages) {
  if (metadata.tool_result) console.log(JSON.stringify(content))
}
