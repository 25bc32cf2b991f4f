import { z } from 'zod'
import type { TableRows } from '../src/assets/tables/table-rows.ts'
import { defineTool } from '../src/boundary/tool.ts'

const MOST_LINES = 50

/** Demonstrates an approval: a person sees the report and can edit it. Nothing leaves the conversation. */
export const sendReport = defineTool({
  id: 'send_report',
  description:
    'Sends a report of rows to somebody, after a person has approved it. In this demo, the report is only written into the conversation.',
  inputSchema: z.object({
    to: z.string().min(1).max(200).describe('Who gets the report.'),
    subject: z.string().min(1).max(200),
    rows: z
      .custom<TableRows>()
      .meta({ asset_ref_acceptable: true, asset_ref_as: 'rows' })
      .describe('The rows of a summary.'),
  }),
  needsApproval: true,
  idempotent: true,
  mappable: false,
  async execute({ to, subject, rows }) {
    const lines: string[] = []
    for await (const row of rows.select({ end: MOST_LINES })) {
      lines.push(Object.values(row).map(String).join(': '))
    }
    return { to, subject, lines, rows: rows.count, delivery: 'written into this conversation only' }
  },
})
