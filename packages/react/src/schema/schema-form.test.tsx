import { act, fireEvent, render, screen, waitFor, within } from '@testing-library/react'
import type { ConversationEvent, Message } from 'byref/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { message, runStarted, stateOf, stepStarted } from '../testing/messages.ts'
import { type RenderOptions, renderInApp } from '../testing/render-in-app.tsx'
import { ThreadItem } from '../thread/thread-item.tsx'
import { timeline } from '../thread/timeline.ts'
import { SchemaForm } from './schema-form.tsx'

let requests: unknown[] = []
let answer = (): Response => Response.json({ messageId: 'm' }, { status: 202 })

beforeEach(() => {
  requests = []
  answer = () => Response.json({ messageId: 'm' }, { status: 202 })
  vi.stubGlobal('fetch', async (path: string, { body }: RequestInit = {}) => {
    requests.push({ path, body: JSON.parse(String(body)) })
    return answer()
  })
})

function show(parts: (Message | ConversationEvent)[], options: RenderOptions = {}) {
  const state = stateOf(...parts)
  const items = timeline(state).map((item) => <ThreadItem key={item.key} item={item} />)
  return renderInApp(items, { ...options, state })
}

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string', title: 'Where', description: 'A city.' },
    days: { type: 'integer', minimum: 1, default: 3 },
    unit: { enum: ['°C', '°F'] },
    rain: { type: 'boolean' },
    extra: { type: 'object' },
  },
  required: ['city', 'unit'],
}
const output = {
  type: 'object',
  properties: { sunny: { type: 'boolean', title: 'Will it shine' } },
}
const asks = message({
  content_type: 'data',
  content: { type: 'data', kind: 'input', schema, output },
})

const field = (name: RegExp) =>
  within(screen.getByRole('form', { name: 'Input' })).getByLabelText(name)

describe('SchemaForm', () => {
  it('has a name of its own among the forms of a conversation', async () => {
    await show([asks, { ...asks, id: 'second' }])
    await waitFor(() => expect(screen.getAllByRole('form')).toHaveLength(2))
    const names = screen.getAllByRole('form').map((form) => form.getAttribute('aria-label'))
    expect(names).toEqual(['Input (1 of 2)', 'Input (2 of 2)'])
  })

  it('is built from the schema of an input message, and sends what is entered as input', async () => {
    await show([asks])
    await screen.findByRole('form')
    expect(field(/Where/)).toHaveProperty('required', true)
    expect(screen.getByText('A city.')).toBeTruthy()
    expect(field(/Days \(optional\)/)).toHaveProperty('value', '3')
    expect(field(/Days/)).toHaveProperty('min', '1')
    fireEvent.change(field(/Where/), { target: { value: 'Oslo' } })
    fireEvent.change(field(/Unit/), { target: { value: '1' } })
    fireEvent.click(field(/Rain/))
    fireEvent.change(field(/Extra/), { target: { value: '{' } })
    fireEvent.submit(screen.getByRole('form'))
    expect((await screen.findByRole('alert')).textContent).toContain('Extra is not valid JSON.')
    fireEvent.change(field(/Extra/), { target: { value: '{"a":1}' } })
    fireEvent.submit(screen.getByRole('form'))
    await waitFor(() => expect(requests).toHaveLength(1))
    const input = { city: 'Oslo', days: 3, unit: '°F', rain: true, extra: { a: 1 } }
    expect(requests[0]).toEqual({
      path: '/api/conversations/c1/messages',
      body: { id: expect.any(String), type: 'input', input, schema, output, ifBusy: 'queue' },
    })
  })

  it('keeps what was entered if it is rejected', async () => {
    const error = { code: 'schema_violation', message: 'days must be >= 1' }
    answer = () => Response.json({ error }, { status: 422 })
    await show([asks])
    await screen.findByRole('form')
    fireEvent.change(field(/Where/), { target: { value: 'Oslo' } })
    fireEvent.submit(screen.getByRole('form'))
    expect((await screen.findByRole('alert')).textContent).toContain('days must be >= 1')
    expect(field(/Where/)).toHaveProperty('value', 'Oslo')
  })

  it('is sent once, however often it is submitted', async () => {
    const sent = Promise.withResolvers<void>()
    const onSubmit = vi.fn(() => sent.promise)
    const { getByRole } = render(
      <SchemaForm label="Input" fields={[]} values={{}} onSubmit={onSubmit} />,
    )
    const form = getByRole('form') as HTMLFormElement
    act(() => form.requestSubmit())
    act(() => form.requestSubmit())
    expect(onSubmit).toHaveBeenCalledTimes(1)
    await act(async () => sent.resolve())
  })

  it('is hidden for readers, for schemas without properties, and after an answer', async () => {
    const reader = await show([asks], { role: 'reader' })
    expect(screen.queryByRole('form')).toBeNull()
    reader.unmount()
    const content = { type: 'data', kind: 'input', schema: { type: 'string' } }
    const said = { type: 'data', kind: 'input', schema, data: { city: 'Oslo' } }
    await show([
      message({ content_type: 'data', content }),
      message({ content_type: 'data', content: said }),
    ])
    expect(screen.queryByRole('form')).toBeNull()
  })
})

describe('SchemaValue', () => {
  it('shows an answer by the schema of its run', async () => {
    await show([
      { ...runStarted(), overrides: { output } } as ConversationEvent,
      stepStarted('a'),
      message({ id: 'a', content: '{"more":["x","y"],"sunny":true,"none":null}' }),
    ])
    const terms = screen.getAllByRole('term').map(({ textContent }) => textContent)
    const values = screen.getAllByRole('definition').map(({ textContent }) => textContent)
    expect(terms).toEqual(['Will it shine', 'More', 'None'])
    expect(values).toEqual(['Yes', 'x, y', '–'])
  })
})
