import { DatabaseSync } from 'node:sqlite'
import { crc32, deflateSync } from 'node:zlib'
import { z } from 'zod'
import {
  answerHas,
  answerHasNumber,
  assetIn,
  call,
  evalTool,
  inGroup,
  receivedOnly,
  rowsParameter,
  textParameter,
} from '../eval-task.ts'
import type { OrderRow, Random } from '../random.ts'

/** Tasks that pass one value to one tool. */
export const PASS_TASKS = inGroup('pass', [
  {
    name: 'rows-to-tool',
    about: 'pass the 60 rows of a result to another tool',
    create(random) {
      const [orders, report] = [random.orders(60), random.id('rep')]
      return {
        tools: () => [listOrders(() => orders), makeReport(report)],
        says: ['Make a report of all orders and tell me its id.'],
        score: (outcome) =>
          receivedOnly(outcome, 'make_report', { rows: orders }) ?? answerHas(outcome, report),
        ideal: (by) => [
          [call('list_orders')],
          [call('make_report', { rows: by('†result#1', orders) })],
          `The report of all orders is ${report}.`,
        ],
      }
    },
  },
  {
    name: 'image-to-tool',
    about: 'pass an image of one tool to another',
    create(random) {
      const [photo, url] = [picture(random), `https://example.com/${random.id('p')}`]
      const image = Buffer.from(photo).toString('base64')
      const parameter = z.string().meta({ asset_ref_acceptable: true, contentEncoding: 'base64' })
      return {
        tools: () => [
          evalTool('take_photo', 'Takes a photo', {}, () => ({ photo })),
          evalTool(
            'publish_image',
            'Publishes an image and gives its URL',
            { image: parameter },
            () => ({ url }),
          ),
        ],
        says: ['Take a photo, publish it, and tell me its URL.'],
        score: (outcome) =>
          receivedOnly(outcome, 'publish_image', { image }) ?? answerHas(outcome, url),
        ideal: (by) => [
          [call('take_photo')],
          [call('publish_image', { image: by('†result#1.photo', image) })],
          `The photo is at ${url}.`,
        ],
      }
    },
  },
  {
    name: 'field-of-result',
    about: 'pass one long field of a result',
    create(random) {
      const [name = ''] = random.names(1)
      const customer = { id: random.id('cus'), name, notes: random.prose(1200), tier: 'gold' }
      const key = random.id('arc')
      return {
        tools: () => [
          evalTool('find_customer', 'Finds a customer', { name: z.string() }, () => customer),
          archiveText(key),
        ],
        says: [`Archive the notes of the customer ${name}, unchanged, and tell me the key.`],
        score: (outcome) =>
          receivedOnly(outcome, 'archive_text', { text: customer.notes }) ??
          answerHas(outcome, key),
        ideal: (by) => [
          [call('find_customer', { name })],
          [call('archive_text', { text: by('†result#1.notes', customer.notes) })],
          `The notes are archived as ${key}.`,
        ],
      }
    },
  },
  {
    name: 'nested-field',
    about: 'pass a field deep in a result',
    create(random) {
      const project = {
        name: random.id('project'),
        phases: Array.from({ length: 3 }, (_, phase) => ({
          name: `phase ${phase + 1}`,
          tasks: Array.from({ length: 3 }, (_, task) => ({
            title: `task ${phase + 1}.${task + 1}`,
            spec: random.prose(400),
          })),
        })),
      }
      const [phase, task] = [random.int(0, 2), random.int(0, 2)]
      const spec = project.phases[phase]?.tasks[task]?.spec ?? ''
      const hours = random.int(11, 99)
      return {
        tools: () => [
          evalTool('get_project', 'Reads the project', {}, () => project),
          evalTool(
            'estimate_hours',
            'Estimates the hours of a spec',
            { spec: textParameter },
            () => ({ hours }),
          ),
        ],
        says: [
          `How many hours does task ${phase + 1}.${task + 1} of the project take? Give its whole spec to estimate_hours.`,
        ],
        score: (outcome) =>
          receivedOnly(outcome, 'estimate_hours', { spec }) ?? answerHasNumber(outcome, hours),
        ideal: (by) => [
          [call('get_project')],
          [
            call('estimate_hours', {
              spec: by(`†result#1.phases[${phase}].tasks[${task}].spec`, spec),
            }),
          ],
          `It takes ${hours} hours.`,
        ],
      }
    },
  },
  {
    name: 'two-results',
    about: 'pass two results to one tool, each in its place',
    create(random) {
      const [before, after, changes] = [random.orders(25), random.orders(25), random.int(11, 99)]
      const parameters = { before: rowsParameter, after: rowsParameter }
      return {
        tools: () => [
          evalTool('orders_of', 'Lists the orders of a year', { year: z.int() }, ({ year }) =>
            year === 2025 ? before : after,
          ),
          evalTool('compare', 'Counts the changes between two lists of rows', parameters, () => ({
            changes,
          })),
        ],
        says: ['How many changes are there from the orders of 2025 to those of 2026?'],
        score: (outcome) =>
          receivedOnly(outcome, 'compare', { before, after }) ?? answerHasNumber(outcome, changes),
        ideal: (by) => [
          [call('orders_of', { year: 2025 }), call('orders_of', { year: 2026 })],
          [
            call('compare', {
              before: by('†result#1', before),
              after: by('†result#2', after),
            }),
          ],
          `There are ${changes} changes.`,
        ],
      }
    },
  },
  {
    name: 'earlier-result',
    about: 'pass a result of an earlier run, which another call would not give again',
    create(random) {
      const [orders, others, report] = [random.orders(30), random.orders(30), random.id('rep')]
      return {
        tools: () => {
          let calls = 0
          return [listOrders(() => (calls++ === 0 ? orders : others)), makeReport(report)]
        },
        says: [
          'List the orders. How many are there?',
          'Thanks. What is 8 times 7?',
          'Make a report of exactly the orders that you listed. Do not list them again, because they change every second. Tell me its id.',
        ],
        score: (outcome) =>
          receivedOnly(outcome, 'make_report', { rows: orders }) ?? answerHas(outcome, report),
        ideal: (by) => [
          [call('list_orders')],
          'There are 30 orders.',
          '56',
          [call('make_report', { rows: by('†result#1', orders) })],
          `The report is ${report}.`,
        ],
      }
    },
  },
  {
    name: 'document-text',
    about: 'pass the text of an attached document',
    create(random) {
      const [text, words] = [random.prose(4000), random.int(500, 900)]
      return {
        files: [{ name: 'contract.txt', text }],
        tools: () => [
          evalTool('count_words', 'Counts the words of a text', { text: textParameter }, () => ({
            words,
          })),
        ],
        says: ['Give the whole text of contract.txt to count_words. How many words are there?'],
        score: (outcome) =>
          receivedOnly(outcome, 'count_words', { text }) ?? answerHasNumber(outcome, words),
        ideal: (by) => [
          (seen) => [call('count_words', { text: by(assetIn(seen), text) })],
          `There are ${words} words.`,
        ],
      }
    },
  },
  {
    name: 'attached-table',
    about: 'pass the rows of an attached CSV file',
    create(random) {
      const [rows, total] = [random.orders(40), random.int(10_000, 99_999)]
      return {
        files: [{ name: 'orders.csv', text: csvOf(rows) }],
        tools: () => [sumColumn(total)],
        says: ['What is the total of the column amount in orders.csv? Use sum_column.'],
        score: (outcome) =>
          receivedOnly(outcome, 'sum_column', { rows, column: 'amount' }) ??
          answerHasNumber(outcome, total),
        ideal: (by) => [
          (seen) => [
            call('sum_column', {
              rows: by(`${assetIn(seen)}/content/rows`, rows),
              column: 'amount',
            }),
          ],
          `The total is ${total}.`,
        ],
      }
    },
  },
  {
    name: 'two-files',
    about: 'pass one of two files that look alike',
    create(random) {
      const [north, south, report] = [random.orders(25), random.orders(25), random.id('rep')]
      return {
        files: [
          { name: 'north.csv', text: csvOf(north) },
          { name: 'south.csv', text: csvOf(south) },
        ],
        tools: () => [makeReport(report)],
        says: ['Make a report of the rows of south.csv, without those of north.csv.'],
        score: (outcome) => receivedOnly(outcome, 'make_report', { rows: south }),
        ideal: (by) => [
          (seen) => [call('make_report', { rows: by(`${assetIn(seen, 1)}/content/rows`, south) })],
          `The report is ${report}.`,
        ],
      }
    },
  },
  {
    name: 'sql-over-table',
    about: 'ask a question about a table in SQL',
    create(random) {
      const rows = random.orders(60)
      const sums = new Map<string, number>()
      for (const { city, amount } of rows) sums.set(city, (sums.get(city) ?? 0) + amount)
      const [[city, sum] = ['', 0]] = [...sums].toSorted(([, a], [, b]) => b - a)
      const sql = 'select city, sum(amount) from t group by 1 order by 2 desc limit 1'
      const parameters = { sql: z.string(), rows: rowsParameter }
      return {
        files: [{ name: 'orders.csv', text: csvOf(rows) }],
        tools: () => [
          evalTool(
            'run_sql',
            'Runs a SQLite SELECT on rows, which are the table t',
            parameters,
            ({ sql, rows }) => runSql(sql, rows),
          ),
        ],
        says: [
          'In which city is the sum of the amounts in orders.csv the highest, and what is the sum there?',
        ],
        score: (outcome) => answerHas(outcome, city) ?? answerHasNumber(outcome, sum),
        ideal: (by) => [
          (seen) => [call('run_sql', { sql, rows: by(`${assetIn(seen)}/content/rows`, rows) })],
          `It is ${city}, with ${sum}.`,
        ],
      }
    },
  },
  {
    name: 'text-in-text',
    about: 'write a long value into a longer text',
    create(random) {
      const [name = ''] = random.names(1)
      const [text, to] = [random.prose(1500), `${name.toLowerCase()}@example.com`]
      const body = `Dear ${name},\n\n${text}`
      return {
        tools: () => [
          evalTool('get_summary', 'Reads the summary of the year', {}, () => ({
            year: 2026,
            text,
          })),
          evalTool('send_mail', 'Sends a mail', { to: z.string(), body: textParameter }, () => ({
            sent: true,
          })),
        ],
        says: [
          `Mail the summary of the year to ${to}. The body is "Dear ${name},", an empty line, and then the whole text of the summary, unchanged.`,
        ],
        score: (outcome) => receivedOnly(outcome, 'send_mail', { to, body }),
        ideal: (by) => [
          [call('get_summary')],
          [
            call('send_mail', {
              to,
              body: by(`Dear ${name},\n\n<|†result#1.text|>`, body),
            }),
          ],
          'The mail is sent.',
        ],
      }
    },
  },
])

/** Returns a tool that lists orders. */
export function listOrders(orders: () => readonly OrderRow[]) {
  return evalTool('list_orders', 'Lists all orders', {}, orders)
}

/** Returns a tool that takes rows and returns an id. */
export function makeReport(report: string) {
  return evalTool('make_report', 'Makes a report of rows', { rows: rowsParameter }, () => ({
    report,
  }))
}

/** Returns a tool that takes a text and returns a key. */
export function archiveText(key: string) {
  return evalTool(
    'archive_text',
    'Archives a text and gives its key',
    { text: textParameter },
    () => ({ key }),
  )
}

/** Returns a tool that takes rows and returns a number. */
export function sumColumn(total: number) {
  const parameters = { rows: rowsParameter, column: z.string() }
  return evalTool('sum_column', 'Adds up a column of rows', parameters, () => ({ total }))
}

function csvOf(rows: readonly OrderRow[]): string {
  const lines = rows.map((row) => Object.values(row).join(','))
  return ['id,customer,city,amount', ...lines].join('\n')
}

function runSql(sql: string, rows: readonly Record<string, unknown>[]): unknown {
  const database = new DatabaseSync(':memory:')
  const columns = Object.keys(rows[0] ?? {})
  const names = columns.map((name) => `"${name.replaceAll('"', '""')}"`).join()
  database.exec(`create table t (${names})`)
  const insert = database.prepare(`insert into t values (${columns.map(() => '?').join()})`)
  for (const row of rows) insert.run(...columns.map((name) => row[name] as string | number))
  const found = database.prepare(sql).all()
  database.close()
  return found
}

/** Returns a small PNG of noise. */
function picture(random: Random): Uint8Array {
  const side = 12
  const rows = Array.from({ length: side }, () => [
    0,
    ...Array.from({ length: side * 3 }, () => random.int(0, 255)),
  ])
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  header.set([8, 2], 8)
  const chunks: [string, Uint8Array][] = [
    ['IHDR', header],
    ['IDAT', deflateSync(Buffer.from(rows.flat()))],
    ['IEND', Buffer.alloc(0)],
  ]
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return new Uint8Array(Buffer.concat([signature, ...chunks.map(pngChunk)]))
}

function pngChunk([type, data]: [string, Uint8Array]): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}
