import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MessageMetadata } from './message.ts'
import { readMetadata } from './read-metadata.ts'

const read = (metadata: unknown) => readMetadata({ metadata: metadata as MessageMetadata })

/** Every reserved key, with invalid values. */
const MALFORMED: Record<string, unknown> = {
  attribution: 7,
  href: { to: '/' },
  footer_items: ['ok', 3, {}],
  tool_calls: 'x',
  tool_result: 5,
  attachments: {},
  reasoning: 'deep',
  answer_sources: [{}],
  has_debug_data: 'yes',
  incomplete: 1,
}

describe('readMetadata', () => {
  it('treats a single footer as a list of one, and keeps order and duplicates', () => {
    expect(read({ footer_items: 'one' }).footer).toEqual(['one'])
    expect(read({ footer_items: ['b', 'a', 'b'] }).footer).toEqual(['b', 'a', 'b'])
    expect(read({ footer_items: [] })).toMatchObject({ footer: [], problems: [] })
  })

  it.each(Object.entries(MALFORMED))('leaves out a malformed %s, and says so', (key, value) => {
    const { problems, ...found } = read({ [key]: value })
    expect(problems).toEqual([{ key, message: expect.stringContaining(`metadata.${key} `) }])
    const nothing = { ...read({}), footer: key === 'footer_items' ? ['ok'] : [] }
    expect({ ...found, problems: [] }).toEqual(nothing)
  })

  it('reads the valid values next to malformed ones', () => {
    const found = read({ ...MALFORMED, attribution: 'mail' })
    expect(found.attribution).toBe('mail')
    expect(found.problems).toHaveLength(Object.keys(MALFORMED).length - 1)
  })

  it('accepts metadata that is not an object', () => {
    for (const metadata of [null, undefined]) expect(read(metadata).problems).toEqual([])
    for (const metadata of ['text', 3, []]) {
      expect(read(metadata)).toMatchObject({ calls: [], problems: [{ key: 'metadata' }] })
    }
  })

  it('never throws, and returns the same shape for any JSON', () => {
    const keys = fc.constantFrom(...Object.keys(MALFORMED), 'own')
    fc.assert(
      fc.property(fc.dictionary(keys, fc.jsonValue()), (metadata) => {
        const { footer, calls, attachments, reasoning, result } = read(metadata)
        expect(footer.every((item) => typeof item === 'string')).toBe(true)
        expect(calls.every((call) => Object(call.arguments) === call.arguments)).toBe(true)
        expect(attachments.every(({ assetRef }) => typeof assetRef === 'string')).toBe(true)
        expect(reasoning.every(({ text }) => typeof text === 'string')).toBe(true)
        expect(result === null || typeof result.callId === 'string').toBe(true)
      }),
    )
  })

  it('reads arguments in every form that senders use', () => {
    const forms = [{ a: 1 }, '{"a":1}', null, undefined, '', 'not json', [1]]
    const { calls } = read({
      tool_calls: forms.map((value, index) => ({ id: `${index}`, name: 'x', arguments: value })),
    })
    expect(calls.map((call) => call.arguments)).toEqual([
      { a: 1 },
      { a: 1 },
      {},
      {},
      {},
      { arguments: 'not json' },
      { arguments: [1] },
    ])
  })

  it('leaves out calls without an id, and keeps provider metadata', () => {
    const provider_metadata = { google: { thoughtSignature: 's' } }
    const { calls, problems } = read({
      tool_calls: [{ name: 'x' }, { id: 'a', provider_metadata }, { id: 'b', name: 'y', at: 1 }],
    })
    expect(calls).toEqual([
      { id: 'a', name: 'unnamed tool', arguments: {}, provider_metadata },
      { id: 'b', name: 'y', arguments: {} },
    ])
    expect(problems).toHaveLength(1)
  })

  it('reads errors in any form', () => {
    const error = (value: unknown) => read({ tool_result: { tool_call_id: 'a', error: value } })
    expect(error({ code: 'x', message: 'm' }).result?.error).toEqual({ code: 'x', message: 'm' })
    expect(error('broke').result?.error).toEqual({ code: 'tool_failed', message: 'broke' })
    expect(error({ why: 1 }).result?.error?.message).toBe('{"why":1}')
    for (const none of [null, undefined, false]) expect(error(none).result?.error).toBeNull()
  })

  it('completes attachments, and drops details that are not text', () => {
    const { attachments } = read({
      attachments: [
        { assetRef: 'asset://a', mimeType: 'image/png', fileName: 3, detail: 'low', own: 1 },
        { assetRef: 'asset://b', kind: 'picture' },
      ],
    })
    expect(attachments).toEqual([
      { assetRef: 'asset://a', mimeType: 'image/png', kind: 'image', detail: 'low', own: 1 },
      { assetRef: 'asset://b', mimeType: '', kind: 'file' },
    ])
  })

  it('reads sources of answers, but no URLs that could act', () => {
    const { answerSources, problems } = read({
      answer_sources: [
        { url: 'https://a.example/', title: ' ' },
        { url: 'javascript:alert(1)', title: 'B' },
        { url: 'data:text/html,x' },
        { fileName: 'c.pdf', mimeType: 5 },
      ],
    })
    expect(answerSources).toEqual([
      { url: 'https://a.example/' },
      { title: 'B' },
      { fileName: 'c.pdf' },
    ])
    expect(problems).toHaveLength(1)
  })

  it('does not show an empty attribution', () => {
    expect(read({ attribution: '  ' }).attribution).toBeNull()
    expect(read({ attribution: 'via mail' }).attribution).toBe('via mail')
  })
})
