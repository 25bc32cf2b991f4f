import { readFile } from 'node:fs/promises'
import { createClient } from '../../src/client/index.ts'
import type { Ids } from './check-view.ts'
import { makeVersions } from './make-versions.ts'

const INVOICES = new URL('../../web/public/samples/invoices.csv', import.meta.url)

/**
 * Makes conversations that are not in the samples: one that waits for an approval, one whose first call failed, one
 * in Arabic and Hebrew, `two-scripts`, and one with edited files, `versions`. Returns their ids. The server answers
 * with the demo model.
 */
export async function makeConversations(url: string): Promise<Ids> {
  const client = createClient({ baseUrl: url })
  const file = new File([await readFile(INVOICES)], 'invoices.csv', { type: 'text/csv' })
  const { table, asset } = await client.upload(file)
  const attachments = [{ assetRef: (table ?? asset).ref }]

  async function ask(content: string, status: string): Promise<string> {
    const { id } = await client.createConversation()
    await client.send(id, { content, attachments })
    for (;;) {
      const summary = await client.conversationSummary(id)
      if (summary?.status === status && summary.messages > 1) return id
      if (summary?.status === 'failed') throw new Error(`"${content}" failed`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  const versions = await makeVersions(client)
  const [approval, failure] = await Promise.all([
    ask('Send a report of the total Amount by Supplier', 'waiting'),
    ask('Demo: a failing call and its recovery', 'idle'),
    client.importConversation(twoScripts(), { id: 'two-scripts' }),
  ])
  return { approval, failure, ...versions }
}

const TABLE = `| المدينة | Rain | יום |
|---|---|---|
| القاهرة | 12.5 | שני |
| Haifa | 1,204 | שלישי |`

const ANSWER = `في **يناير** هطل المطر 12 مرة (انظر \`†state.rain\`)، وفي February مرتين فقط.

${TABLE}

1. القاهرة: 12.5 mm
2. חיפה: 1,204 mm

\`\`\`ts
const rain = sum(rows, 'amount') // مجموع
\`\`\``

/**
 * The lines of an export: a conversation from right to left, with names, numbers, references and code from left to
 * right.
 */
function twoScripts(): string {
  const timestamp = '2026-01-05T09:30:00.000Z'
  const person = { participant_id: 'noa', participant_role: 'user', name: 'נועה' }
  const agent = { participant_id: 'agent', participant_role: 'assistant', name: 'agent' }
  const call = {
    id: 'call-rain',
    name: 'sum_rows',
    arguments: { city: 'القاهرة', שם: 'גשם (ינואר)', limit: 12, _outputPath: '†state.rain' },
  }
  const messages = [
    { sender: person, content: 'كم مرة هطل المطر في القاهرة (2025)؟' },
    { sender: agent, content: 'سأجمع الصفوف.', metadata: { tool_calls: [call] } },
    {
      sender: { participant_id: 'sum_rows', participant_role: 'tool' },
      content: { المجموع: 12.5, note: 'חישוב: 12.5 מ"מ, ב-3 ימים' },
      content_type: 'application/json',
      metadata: { tool_result: { tool_call_id: call.id } },
    },
    {
      sender: agent,
      content_type: 'data',
      content: {
        type: 'data',
        kind: 'state',
        data: { rain: { القاهرة: [12.5, 3], note: 'גשם, 12.5 מ"מ' } },
        _call: call.id,
      },
    },
    { sender: agent, content: ANSWER, content_type: 'text/markdown' },
    { sender: person, content: 'תודה! 3 ימים, נכון?\nWhich months were wet?\nشكرا (2025).' },
  ]
  const records = messages.map((message, index) => ({
    v: 1,
    position: index + 1,
    timestamp,
    event: {
      type: 'NEW_MESSAGE',
      payload: {
        id: `two-scripts-${index}`,
        message_type: 'chat',
        content_type: 'text/plain',
        timestamp,
        metadata: {},
        ...message,
      },
    },
  }))
  const head = {
    byref: 'conversation',
    version: 1,
    id: 'two-scripts',
    title: 'المطر في القاهرة (2025)',
    createdAt: timestamp,
    updatedAt: timestamp,
  }
  return [head, ...records, { byref: 'end' }].map((line) => JSON.stringify(line)).join('\n')
}
