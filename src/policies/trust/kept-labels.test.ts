import { expect, it } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import { say } from '../../agent/fixtures/agent.ts'
import { createMemoryAssetStore } from '../../assets/stores/memory.ts'
import { defineTool } from '../../boundary/tool.ts'
import { createLabels } from '../../core/labels/labels.ts'
import { type ScriptedTurn, scriptedModel } from '../../testing/scripted-model.ts'

const PRIVATE = { confidentiality: 'private', readers: ['ann'] } as const

const readMail = defineTool({
  id: 'read_mail',
  description: 'Reads',
  readOnly: true,
  maxResultChars: 500,
  inputSchema: { type: 'object', properties: { long: { type: 'boolean' } } },
  returns: { integrity: 'untrusted', ...PRIVATE },
  execute: (input) =>
    (input as { long?: boolean }).long
      ? { rows: Array.from({ length: 100 }, (_, i) => `row ${i}`) }
      : { picture: new Uint8Array(200).fill(7) },
})

const read = (long: boolean): ScriptedTurn => ({
  calls: [{ name: 'read_mail', arguments: { long } }],
})

it.each([
  { what: 'a file of a result', long: false },
  { what: 'a long result', long: true },
])('the record of $what has its label in every store', async ({ long }) => {
  const store = createMemoryAssetStore()
  const agent = createAgent({
    tools: [readMail],
    assets: { store },
    trust: 'quarantine',
    model: scriptedModel([read(long), 'Done']),
  })
  const { assets } = await agent.run({ conversation: 'a', messages: say('Read') }).result
  const ref = assets[0]?.ref ?? ''
  expect(await agent.assets.info(ref)).toMatchObject({
    label: { integrity: 'untrusted', ...PRIVATE },
  })

  // Another host, which trusts the files of people.
  const other = createAgent({
    assets: { store },
    trust: { mode: 'quarantine', attachments: 'trusted' },
    model: scriptedModel(['Seen']),
  })
  const attachments = [{ assetRef: ref }]
  const messages = [{ role: 'user', content: 'Look', metadata: { attachments } }]
  await other.run({ conversation: 'b', messages }).result
  const labels = createLabels()
  for (const record of await other.log.read('b')) labels.apply(record)
  expect(labels.asset({ id: assets[0]?.assetId ?? '' })).toMatchObject({
    integrity: 'untrusted',
    ...PRIVATE,
  })
})

it('records have no labels if trust is off', async () => {
  const agent = createAgent({ tools: [readMail], model: scriptedModel([read(false), 'Done']) })
  const { assets } = await agent.run({ messages: say('Read') }).result
  expect(await agent.assets.info(assets[0]?.ref ?? '')).not.toHaveProperty('label')
})
