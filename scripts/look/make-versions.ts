import type { AssetInfo, Client } from '../../src/client/index.ts'
import type { Ids } from './check-view.ts'

const DAYS = Array.from({ length: 60 }, (_, at) => `Day ${at + 1}: ${(at * 7) % 13} mm`)

const REPORT = `# Rain in the valley

The gauge stands next to the old mill. It was read each morning at seven by one of the two keepers.

${DAYS.join('\n')}

The sum of the month is 326 mm.
`

const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="180"><rect width="320" height="180" fill="#dbeafe"/><circle cx="160" cy="90" r="60" fill="#2563eb"/></svg>'

const DIFF = `@@ -20,5 +20,5 @@
 Day 16: 1 mm
 Day 17: 8 mm
-Day 18: 2 mm
+Day 18: 20 mm
 Day 19: 9 mm`

/**
 * Makes files with versions: a text in the conversation `versions`, in which the next edit waits for an approval, a
 * table and a picture. Returns the ids of their newest versions.
 */
export async function makeVersions(client: Client): Promise<Ids> {
  async function edited(
    file: File,
    ...steps: Parameters<Client['edit']>[1][]
  ): Promise<AssetInfo[]> {
    const { asset, table } = await client.upload(file)
    const made = [table ?? asset]
    for (const edits of steps) made.push((await client.edit(made.at(-1)?.ref ?? '', edits)).asset)
    return made
  }

  const [texts, tables, pictures] = await Promise.all([
    edited(
      new File([REPORT], 'rain in the valley.md', { type: 'text/markdown' }),
      [
        { find: 'next to the old mill', replace: 'behind the new mill' },
        { find: 'Day 30: 8 mm\nDay 31: 2 mm\n', replace: 'Day 30: 18 mm\n' },
      ],
      [{ find: 'The sum of the month is 326 mm.', replace: 'The sum of the month is 334 mm.' }],
    ),
    edited(new File(['city,rain\nRom,1\nOslo,2\nBern,3\n'], 'towns.csv', { type: 'text/csv' }), [
      { sql: "SELECT * FROM rows WHERE city <> 'Bern' UNION ALL SELECT 'Wien', 4" },
    ]),
    edited(new File([PICTURE], 'drop.svg', { type: 'image/svg+xml' }), [
      { find: 'fill="#2563eb"', replace: 'fill="#b91c1c"' },
    ]),
  ])
  await client.importConversation(linesOf(texts), { id: 'versions' })
  const newest = (all: readonly AssetInfo[]) => all.at(-1)?.assetId ?? ''
  return {
    versionedText: newest(texts),
    versionedTable: newest(tables),
    versionedPicture: newest(pictures),
  }
}

/** The lines of an export: each edit is a call, and the last call waits for a person. */
function linesOf(versions: readonly AssetInfo[]): string {
  const timestamp = '2026-01-05T09:30:00.000Z'
  const newest = versions.at(-1) as AssetInfo
  const message = (id: string, of: object) => ({
    type: 'NEW_MESSAGE',
    payload: {
      id,
      message_type: 'chat',
      content_type: 'text/plain',
      content: '',
      timestamp,
      sender: { participant_id: 'agent', participant_role: 'assistant' },
      metadata: {},
      ...of,
    },
  })
  const person = { participant_id: 'noa', participant_role: 'user', name: 'Noa' }
  const callOf = (id: string, { ref }: AssetInfo) => ({
    id,
    name: 'edit_asset',
    arguments: { ref, edits: [{ find: 'Day 18: 2 mm', replace: 'Day 18: 20 mm' }] },
  })
  const edits = versions.slice(1).flatMap((made, at) => {
    const call = callOf(`edit-${at}`, versions[at] as AssetInfo)
    const { assetId, ref, mime, kind, size, name, previous } = made
    const value = { assetRef: ref, size, changes: 1 }
    const content = at === 0 ? 'I correct the days.' : 'I correct the sum.'
    return [
      message(`step-${at}`, { content, metadata: { tool_calls: [call] } }),
      {
        type: 'ASSET_CREATED',
        payload: {
          assetId,
          ref,
          mime,
          kind,
          size,
          name,
          previous,
          by: 'tool',
          tool: 'edit_asset',
          toolCallId: call.id,
        },
      },
      message(`data-${at}`, {
        content_type: 'data',
        content: { type: 'data', kind: 'state', data: { report: value }, _call: call.id },
      }),
      message(`result-${at}`, {
        sender: { participant_id: 'edit_asset', participant_role: 'tool' },
        content_type: 'application/json',
        content: value,
        metadata: { tool_result: { tool_call_id: call.id } },
      }),
    ]
  })
  const last = callOf('edit-last', newest)
  const ids = { toolCallId: last.id, runId: 'run' }
  const usage = { inputTokens: null, outputTokens: null }
  const events = [
    message('ask', { sender: person, content: 'Please correct the rain report.' }),
    ...edits,
    message('said', { content: 'The report is corrected.' }),
    message('more', { sender: person, content: 'Day 18 had 20 mm, too.' }),
    { type: 'RUN_STARTED', threadId: 'versions', runId: 'run', messageIds: ['more'], owner: 'me' },
    { type: 'STEP_STARTED', stepName: 'step 1', runId: 'run', messageId: 'wants' },
    { type: 'TOOL_CALL_END', ...ids, parentMessageId: 'wants', call: last },
    message('wants', { content: 'I correct day 18.', metadata: { tool_calls: [last] } }),
    {
      type: 'STEP_FINISHED',
      stepName: 'step 1',
      runId: 'run',
      messageId: 'wants',
      usage,
      finishReason: 'tool-calls',
    },
    {
      type: 'APPROVAL_REQUESTED',
      ...ids,
      toolName: 'edit_asset',
      previews: [DIFF],
      arguments: last.arguments,
    },
  ]
  const times = { createdAt: timestamp, updatedAt: timestamp }
  const head = { byref: 'conversation', version: 1, id: 'versions', title: 'Rain report', ...times }
  const records = events.map((event, at) => ({ v: 1, position: at + 1, timestamp, event }))
  return [head, ...records, { byref: 'end' }].map((line) => JSON.stringify(line)).join('\n')
}
