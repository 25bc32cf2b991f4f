import { z } from 'zod'
import type { BenchTool, Task } from '../play.ts'
import { orders } from '../words.ts'

const rows = orders(600)
const row = z.object({
  id: z.string(),
  customer: z.string(),
  city: z.string(),
  total: z.number(),
  status: z.string(),
})
const query: BenchTool = {
  id: 'query_orders',
  description: 'Finds orders',
  input: z.object({ status: z.enum(['open', 'paid', 'any']) }),
  execute: () => rows,
}
const says = [
  { role: 'user', content: 'Put all orders into a spreadsheet and send it to ops@example.com.' },
]
const ANSWER = 'The spreadsheet with 600 orders is on its way to ops@example.com.'
const mail = { to: 'ops@example.com', subject: 'Orders' }

/** One tool passes a value to another. By value, the model writes it out again. */
export const toolToTool: Task = {
  name: 'tool to tool',
  about: '600 rows (60 kB) from a query into a spreadsheet into a mail',
  isLarge: true,
  byref: () => ({
    tools: [
      query,
      {
        id: 'spreadsheet',
        description: 'Makes a spreadsheet of rows',
        input: z.object({ rows: z.array(row).meta({ asset_ref_acceptable: true }) }),
        execute: ({ rows: given }: { rows: unknown[] }) => ({
          file: new Uint8Array(30_000).fill(3),
          rows: given.length,
        }),
      },
      {
        id: 'send_mail',
        description: 'Sends a mail',
        input: z.object({
          to: z.string(),
          subject: z.string(),
          file: z.string().meta({ asset_ref_acceptable: true, contentEncoding: 'base64' }),
        }),
        execute: () => ({ sent: true }),
      },
    ],
    says,
    answers: [
      {
        calls: [
          { name: 'query_orders', arguments: { status: 'any', _outputPath: '†orders' } },
          { name: 'spreadsheet', arguments: { rows: '†orders', _outputPath: '†sheet' } },
          { name: 'send_mail', arguments: { ...mail, file: '†sheet.file' } },
        ],
      },
      ANSWER,
    ],
  }),
  value: () => ({
    tools: [
      query,
      {
        id: 'spreadsheet',
        description: 'Makes a spreadsheet of rows',
        input: z.object({ rows: z.array(row) }),
        execute: () => ({ file: 'https://files.example/orders.xlsx' }),
      },
      {
        id: 'send_mail',
        description: 'Sends a mail',
        input: z.object({ to: z.string(), subject: z.string(), file: z.string() }),
        execute: () => ({ sent: true }),
      },
    ],
    says,
    answers: [
      { calls: [{ name: 'query_orders', arguments: { status: 'any' } }] },
      { calls: [{ name: 'spreadsheet', arguments: { rows } }] },
      {
        calls: [
          { name: 'send_mail', arguments: { ...mail, file: 'https://files.example/orders.xlsx' } },
        ],
      },
      ANSWER,
    ],
  }),
}
