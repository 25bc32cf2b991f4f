import { expect, it } from 'vitest'
import type { MessageMetadata } from '../core/messages/message.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { assistantItem } from './transcript-item.ts'

const thought = (id: string) => ({ text: id, provider_metadata: { openai: { itemId: id } } })
const call = (id: string) => ({ id, name: 'look', arguments: {} })
const own = { openai: { itemId: 'msg_1' } }
const [reasoning, text, made] = [{ type: 'reasoning' }, { type: 'text' }, { type: 'call' }]

/** The parts of an answer in their order, in short form. */
function partsOf(content: string, metadata: MessageMetadata, hasFiles = false): unknown[] {
  const message = toMessage({ role: 'assistant', content, metadata })
  const { parts, calls } = assistantItem(message, hasFiles)
  const said = (part: (typeof parts)[number]) => {
    const { text, provider_metadata } = 'text' in part ? part : { ...part, text: part.type }
    return provider_metadata ? [text, provider_metadata] : text
  }
  return [
    ...parts.map(said),
    ...calls.flatMap(({ id, thoughts = [] }) => [...thoughts.map(said), id]),
  ]
}

it('contains the reasoning, the text and the calls by default', () => {
  const metadata = { reasoning: [{ text: 'Hm.' }], tool_calls: [call('a'), call('b')] }
  expect(partsOf('Hello.', metadata)).toEqual(['Hm.', 'Hello.', 'a', 'b'])
  expect(partsOf('', metadata)).toEqual(['Hm.', 'a', 'b'])
  expect(partsOf('', {})).toEqual([])
  expect(partsOf('', {}, true)).toEqual(['(files only)'])
  expect(partsOf('Hello.', {}, true)).toEqual(['Hello.'])
})

it('keeps the order of the model, and the metadata of texts', () => {
  const metadata = {
    reasoning: [thought('r1'), thought('r2')],
    tool_calls: [call('a'), call('b')],
    answer_parts: [
      reasoning,
      { ...text, length: 6, provider_metadata: own },
      made,
      reasoning,
      made,
    ],
  }
  const [one, two] = ['r1', 'r2'].map((id) => [id, { openai: { itemId: id } }])
  expect(partsOf('Hello.', metadata)).toEqual([one, ['Hello.', own], 'a', two, 'b'])
})

it('keeps reasoning before the call that follows it, also without a text', () => {
  const metadata = {
    reasoning: [thought('r1')],
    tool_calls: [call('a'), call('b')],
    answer_parts: [made, reasoning, made],
  }
  expect(partsOf('', metadata)).toEqual(['a', ['r1', { openai: { itemId: 'r1' } }], 'b'])
})

it.each([
  [
    'a text that was changed',
    'Hello!!',
    [reasoning, { ...text, length: 6, provider_metadata: own }],
  ],
  ['a call that is gone', 'Hello.', [reasoning, { ...text, length: 6 }, made]],
  ['reasoning that is gone', 'Hello.', [reasoning, reasoning, { ...text, length: 6 }]],
])('omits reasoning that does not match: %s', (_what, content, answer_parts) => {
  expect(partsOf(content, { reasoning: [thought('r1')], answer_parts })).toEqual([content])
})
