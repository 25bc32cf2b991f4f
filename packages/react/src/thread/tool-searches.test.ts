import { describe, expect, it } from 'vitest'
import { message } from '../testing/messages.ts'
import { searchesBefore, searchesOf } from './tool-searches.ts'

const call = (id: string, name: string, args: Record<string, unknown>) =>
  message({ id: `say-${id}`, metadata: { tool_calls: [{ id, name, arguments: args }] } })
const result = (id: string, content: unknown) =>
  message({
    id: `result-${id}`,
    content: content as string,
    metadata: { tool_result: { tool_call_id: id } },
  })

const messages = [
  call('s1', 'search_tools', { query: 'invoices', group: 'crm' }),
  result('s1', { tools: [{ name: 'crm_create_invoice' }, { name: 'crm_list_invoices' }] }),
  call('c1', 'crm_create_invoice', {}),
  result('c1', { tools: [{ name: 'no search' }] }),
  call('s2', 'search_tools', { query: 7 }),
  result('s2', { tools: [], note: 'No matching tools.' }),
  call('s3', 'search_tools', { query: 'broken' }),
  result('s3', 'an error'),
]

describe('searchesOf', () => {
  it('returns what each search found, and the size of its result', () => {
    expect(searchesOf(messages)).toMatchObject([
      {
        callId: 's1',
        query: 'invoices',
        group: 'crm',
        found: ['crm_create_invoice', 'crm_list_invoices'],
        bytes: 70,
      },
      { callId: 's2', query: '', group: null, found: [] },
    ])
  })
})

describe('searchesBefore', () => {
  it('leaves out searches whose result was not there yet', () => {
    const ids = (messageId: string) =>
      searchesBefore(messages, messageId).map(({ callId }) => callId)
    expect(ids('say-s1')).toEqual([])
    expect(ids('say-c1')).toEqual(['s1'])
    expect(ids('say-s3')).toEqual(['s1', 's2'])
  })
})
