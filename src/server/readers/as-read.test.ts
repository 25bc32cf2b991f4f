import { describe, expect, it } from 'vitest'
import type { ConversationEvent } from '../../core/events/events.ts'
import { TRUSTED, type WrittenLabel } from '../../core/labels/label.ts'
import { toMessage } from '../../core/messages/to-message.ts'
import { ConversationLabels } from '../../log/conversation-labels.ts'
import { asRead } from './as-read.ts'

const asked: ConversationEvent = {
  type: 'APPROVAL_REQUESTED',
  toolCallId: 'c1',
  runId: 'r',
  toolName: 'edit_asset',
  arguments: { ref: 'asset://a' },
  previews: ['-the salary is 98,000'],
}

describe('asRead', () => {
  it('withholds the preview of a call from those who may not read its arguments', () => {
    const labels = new ConversationLabels()
    const declared = () => TRUSTED
    expect(asRead(asked, { labels, declared, may: () => true })).toEqual(asked)
    const read = asRead(asked, { labels, declared, may: () => false })
    expect(read).toMatchObject({ arguments: { withheld: true } })
    expect(JSON.stringify(read)).not.toContain('salary')
  })

  it('withholds the keys of a value that have labels of their own', () => {
    const anna: WrittenLabel = { confidentiality: 'private', readers: ['anna'] }
    const label = { ...anna, fields: { 'salary of Ben': { ...anna, readers: ['eve'] } } }
    const reading = { labels: new ConversationLabels(), declared: () => TRUSTED }
    const events: ConversationEvent[] = [
      { type: 'NEW_MESSAGE', payload: toMessage({ content: 'Hi' }), label },
      {
        type: 'ASSET_CREATED',
        payload: {
          assetId: 'a',
          ref: 'asset://a',
          mime: 'text/plain',
          kind: 'file',
          by: 'tool',
          label: { ...anna, fields: { content: label } },
        },
      },
      { type: 'TOOL_FINISHED', toolCallId: 'c1', runId: 'r', item: 0, value: 1, label },
      { type: 'TOOL_FINISHED', toolCallId: 'c1', runId: 'r', modelOutput: 'Ben', label },
    ]
    for (const event of events) {
      expect(asRead(event, { ...reading, may: () => true })).toEqual(event)
      const read = asRead(event, { ...reading, may: () => false })
      expect(JSON.stringify(read)).toContain('"label":{"confidentiality":"private","readers":[]}')
      expect(JSON.stringify(read)).not.toContain('Ben')
    }
  })
})
