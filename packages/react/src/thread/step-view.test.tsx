import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import type { ConversationEvent, Message } from 'byref/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { asked, message, runStarted, stateOf, stepStarted } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { ThreadItem } from './thread-item.tsx'
import { timeline } from './timeline.ts'

beforeEach(() => {
  vi.stubGlobal('fetch', async () => Response.json({ error: {} }, { status: 404 }))
})

const ids = (toolCallId: string) => ({ toolCallId, runId: 'r' })
const call = (id: string) => ({ id, name: 'chart_rows', arguments: {} })
const usage = { inputTokens: null, outputTokens: null }

/** A run that calls a tool twice, up to the point that a test needs. */
function step(...results: Message[]): (Message | ConversationEvent)[] {
  const begun = ['1', '2'].flatMap((id): ConversationEvent[] => [
    { type: 'TOOL_CALL_END', ...ids(id), parentMessageId: 'q', call: call(id) },
    { type: 'TOOL_STARTED', ...ids(id), attempt: 1 },
  ])
  const content = 'I will chart rain by month. Then I rank it.'
  return [
    runStarted(),
    stepStarted('q'),
    ...begun,
    message({ id: 'q', content, metadata: { tool_calls: [call('1'), call('2')] } }),
    {
      type: 'STEP_FINISHED',
      stepName: 'step 1',
      runId: 'r',
      messageId: 'q',
      usage,
      finishReason: 'tool-calls',
    },
    ...results,
  ]
}

function result(id: string, change: Partial<Message> = {}, error?: object): Message {
  const mark = { tool_call_id: id, ...(error ? { error } : {}) }
  return message({
    id: `r${id}`,
    content: 'fine',
    ...change,
    metadata: { tool_result: mark as never },
  })
}

const answer = (): (Message | ConversationEvent)[] => [
  stepStarted('a'),
  message({ id: 'a', content_type: 'text/plain', content: 'December.' }),
  { type: 'RUN_FINISHED', threadId: 'c', runId: 'r', result: { reason: 'done', usage } },
]

function show(parts: (Message | ConversationEvent)[], at = '/') {
  const state = stateOf(...parts)
  const items = timeline(state).map((item) => <ThreadItem key={item.key} item={item} />)
  return renderInApp(items, { state, at })
}

const line = () => screen.getByRole('button', { expanded: false, name: /call/ })

describe('StepView', () => {
  it('is open during its run, and one line when the answer is complete', async () => {
    const running = await show(step(result('1')))
    const open = screen.getByRole('button', { expanded: true, name: /call/ })
    expect(open.textContent).toBe('running:Chart rain by month2 calls')
    expect(screen.getAllByRole('article', { name: /^(Call|Result) of/ }).length).toBe(2)
    expect(screen.getAllByRole('group', { name: 'Result' })).toHaveLength(1)
    running.unmount()

    await show([...step(result('1'), result('2')), ...answer()])
    expect(line().textContent).toMatch(/^done:Chart rain by month2 calls · [\d.]+ m?s$/)
    expect(screen.queryByText('fine')).toBeNull()
    expect(screen.queryByRole('article', { name: /Call of/ })).toBeNull()
    expect(screen.getByText('December.')).toBeTruthy()
    fireEvent.click(line())
    expect(screen.getAllByRole('article', { name: 'Call of chart_rows' })).toHaveLength(2)
    expect(await screen.findAllByText('fine')).toHaveLength(2)
    fireEvent.click(screen.getByRole('button', { expanded: true, name: /call/ }))
    expect(screen.queryByText('fine')).toBeNull()
  })

  it('stays open if a call failed, has no result or waits for a person', async () => {
    const error = { code: 'tool_failed', message: 'The disk is full.' }
    const failed = await show([...step(result('1'), result('2', {}, error)), ...answer()])
    expect(screen.getByRole('button', { expanded: true, name: /call/ }).textContent).toContain(
      'failed · 2 calls',
    )
    expect(screen.getByText('The disk is full.')).toBeTruthy()
    failed.unmount()
    const unanswered = await show([...step(result('1')), ...answer()])
    expect(screen.getByText(/no result recorded/)).toBeTruthy()
    unanswered.unmount()
    await show(asked({ sum: 5 }))
    expect(await screen.findByRole('button', { name: 'Approve' })).toBeTruthy()
  })

  it('opens if the URL names something inside it', async () => {
    const parts = [...step(result('1'), result('2')), ...answer()]
    for (const hash of ['call-1', 'm-r2']) {
      const { unmount, container } = await show(parts, `/#${hash}`)
      await waitFor(() => expect(container.querySelector(`#${hash}`)).toBeTruthy())
      unmount()
    }
    await show(parts, '/#m-a')
    expect(line()).toBeTruthy()
  })

  it('draws hundreds of calls only as far as a person scrolls or the URL leads', async () => {
    const calls = Array.from({ length: 200 }, (_, number) => call(`${number}`))
    const parts = [message({ id: 'q', metadata: { tool_calls: calls } }), result('50')]
    const cards = () => screen.getAllByRole('article', { name: 'Call of chart_rows' }).length
    const first = await show(parts)
    fireEvent.click(screen.getByRole('button', { name: '… 188 more calls' }))
    expect(cards()).toBe(24)
    first.unmount()
    await show(parts, '/#m-r50')
    expect([cards(), screen.getAllByText('fine').length]).toEqual([51, 1])
  })

  it('shows a picture that no answer shows, with a title that is never an id', async () => {
    const chart = { assetRef: 'asset://a1', mimeType: 'image/png', kind: 'image' }
    const view = await show([
      ...step(result('1', { content: { title: 'Rain by month', chart } }), result('2')),
      ...answer(),
    ])
    expect(screen.getByRole('figure').textContent).toBe('Rain by month')
    expect(screen.getAllByRole('img', { name: 'Rain by month' })).toHaveLength(1)
    fireEvent.click(line())
    expect(screen.getAllByRole('img')).toHaveLength(1)
    view.unmount()
    await show([...step(result('1', { content: { chart } }), result('2')), ...answer()])
    expect(screen.getByRole('figure').textContent).toBe('Chart rain by month')
  })

  it('leaves a picture to the answer that is being written with it', async () => {
    const chart = { assetRef: 'asset://a1', mimeType: 'image/png', kind: 'image' }
    await show([
      ...step(result('1', { content: { chart } }), result('2')),
      stepStarted('a'),
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: '![Rain](<|asset://a1|>' },
    ])
    expect(screen.queryByRole('figure')).toBeNull()
  })

  it('shows the tool through which a call was made, and the search that found its tool', async () => {
    const search = { id: 's', name: 'search_tools', arguments: { query: 'an invoice' } }
    const through = (id: string, name: string) => ({ id, name, arguments: {}, via: 'call_tool' })
    const found = { tools: [{ name: 'crm_create_invoice' }] } as never
    const calls = [through('1', 'crm_create_invoice'), through('2', 'crm_list_people')]
    await show([
      message({ metadata: { tool_calls: [search] } }),
      result('s', { content: found }),
      message({ id: 'q', metadata: { tool_calls: calls } }),
      result('1'),
      result('2'),
    ])
    for (const one of screen.getAllByRole('button', { expanded: false, name: /call/ })) {
      fireEvent.click(one)
    }
    const invoice = screen.getByRole('article', { name: 'Call of crm_create_invoice' })
    const link = await within(invoice).findByRole('link', { name: /^Found by the search/ })
    expect(link.getAttribute('href')).toMatch(/#call-s$/)
    expect(invoice.textContent).toContain(
      'Called through call_tool. Found by the search an invoice',
    )
    const people = screen.getByRole('article', { name: 'Call of crm_list_people' })
    expect(people.textContent).toContain('Called through call_tool. No search had found it.')
    const searched = screen.getByRole('article', { name: 'Call of search_tools' })
    expect(searched.textContent).not.toContain('Called through')
  })
})
