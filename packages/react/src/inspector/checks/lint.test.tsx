import type { Message } from 'byref/client'
import { describe, expect, it } from 'vitest'
import { message } from '../../testing/messages.ts'
import { LINT_CODES, type LintCode, lint } from './lint.ts'

const bad = (metadata: unknown, change: Partial<Message> = {}) =>
  message({ id: 'bad', metadata: metadata as Message['metadata'], ...change })
const call = (id: string) => ({ id, name: 'look', arguments: {} })
const calls = (...ids: string[]) => message({ metadata: { tool_calls: ids.map(call) } })
const result = (id: string, change: Partial<Message> = {}) =>
  message({ metadata: { tool_result: { tool_call_id: id } }, ...change })

/** For each code, messages of which only the one with the id `bad` has this finding. */
const FIXTURES: Record<LintCode, Message[]> = {
  metadata_not_object: [bad('text')],
  attribution_not_text: [bad({ attribution: 7 })],
  href_not_text: [bad({ href: { to: '/' } })],
  href_rejected: [bad({ href: 'javascript:alert(1)' }, { message_type: 'note' })],
  href_on_chat: [bad({ href: '/c/1' })],
  footer_items_malformed: [bad({ footer_items: [{ text: 'x' }] })],
  tool_calls_malformed: [bad({ tool_calls: 'look' })],
  tool_result_malformed: [bad({ tool_result: ['c1'] })],
  attachments_malformed: [bad({ attachments: { assetRef: 'asset://a' } })],
  answer_parts_malformed: [bad({ answer_parts: ['text'] })],
  answer_sources_malformed: [bad({ answer_sources: [{ url: 'javascript:x' }] })],
  reasoning_malformed: [bad({ reasoning: 'because' })],
  has_debug_data_not_boolean: [bad({ has_debug_data: 'yes' })],
  incomplete_not_boolean: [bad({ incomplete: 1 })],
  debug_not_object: [bad({ debug: 'text' })],
  call_unanswered: [bad({ tool_calls: [call('c')] })],
  call_id_reused: [calls('c'), result('c'), bad({ tool_calls: [call('c')] }), result('c')],
  result_unmatched: [result('nobody', { id: 'bad' })],
  result_duplicate: [calls('c'), result('c'), result('c', { id: 'bad' })],
}

describe('lint', () => {
  it.each(Object.keys(LINT_CODES) as LintCode[])('finds %s', (code) => {
    expect(lint(FIXTURES[code])).toMatchObject([{ code, messageId: 'bad' }])
  })

  it.each(['data:text/html,x', '//evil.example', 'vbscript:x', ' javascript:x', 'file:///etc'])(
    'rejects the link %s',
    (href) => {
      const found = lint([bad({ href }, { message_type: 'notice' })])
      expect(found.map(({ code }) => code)).toEqual(['href_rejected'])
    },
  )

  it('finds nothing in correct messages and in deleted ones', () => {
    const fine = [
      message({ metadata: { attribution: 'x', footer_items: ['a'], tool_calls: [call('c')] } }),
      result('c'),
      message({ message_type: 'note', metadata: { href: '/c/1', unknown: [1], debug: {} } }),
      message({ content: '', metadata: { deleted: true, href: 3 } as never }),
    ]
    expect(lint(fine)).toEqual([])
  })

  it('allows calls without results in an active run', () => {
    expect(lint([calls('c')], new Set(['c']))).toEqual([])
  })

  it('lists all problems in the order of the messages', () => {
    const found = lint([bad({ attribution: 1, href: 2 }), calls('c'), result('x')])
    expect(found.map(({ code }) => code)).toEqual([
      'attribution_not_text',
      'href_not_text',
      'call_unanswered',
      'result_unmatched',
    ])
  })
})
