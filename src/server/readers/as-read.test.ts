import { describe, expect, it } from 'vitest'
import type { ConversationEvent } from '../../core/events/events.ts'
import { TRUSTED } from '../../core/labels/label.ts'
import { asRead } from './as-read.ts'
import { ConversationLabels } from './conversation-labels.ts'

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
})
