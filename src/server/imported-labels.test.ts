import { describe, expect, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import { say } from '../agent/fixtures/agent.ts'
import { defineTool } from '../boundary/tool.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import type { LabelsInfo } from '../wire/types.ts'
import { openApi } from './fixtures/api.ts'

const read = defineTool({
  id: 'read',
  description: 'Reads what somebody wrote',
  inputSchema: { type: 'object', properties: {} },
  readOnly: true,
  returns: { integrity: 'untrusted', readers: ['anna'] },
  execute: () => 'words',
})

async function exported(trust: 'off' | 'track'): Promise<string> {
  const model = scriptedModel([{ calls: [{ id: 'c1', name: 'read', arguments: {} }] }, 'Done.'])
  const agent = createAgent({ model, trust, tools: [read] })
  const { conversation, result } = agent.run({ messages: say('Go') })
  await result
  let text = ''
  for await (const line of agent.log.export(conversation)) text += line
  return text
}

describe('labels of imported conversations, if no agent uses trust', () => {
  it('are shown, and conversations without labels have none', async () => {
    const log = createMemoryLog()
    const { askJson, ask } = openApi([], { agent: { log } })
    for (const trust of ['off', 'track'] as const) {
      const headers = { 'content-type': 'application/x-ndjson' }
      const body = await exported(trust)
      await ask(`/api/conversations/import?id=${trust}`, { method: 'POST', headers, body })
    }
    const marks = await askJson<LabelsInfo>('/api/conversations/track/labels')
    expect(Object.values(marks.messages)).toContainEqual({
      integrity: 'untrusted',
      confidentiality: 'private',
      readers: ['anna'],
    })
    const ref = encodeURIComponent('†result#1')
    const lineage = await askJson(`/api/conversations/track/lineage?ref=${ref}`)
    expect(JSON.stringify(lineage)).toContain('"readers":["anna"]')
    const plain = await askJson<LabelsInfo>('/api/conversations/off/labels')
    expect(plain).toEqual({ ...marks, messages: {} })
    const unlabelled = await askJson(`/api/conversations/off/lineage?ref=${ref}`)
    expect(JSON.stringify(unlabelled)).not.toContain('label')
  })
})
