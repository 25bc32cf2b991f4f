import { fireEvent, screen, within } from '@testing-library/react'
import type { ConversationEvent, Message } from 'byref/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { message, runStarted, stateOf, stepStarted } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { ThreadItem } from './thread-item.tsx'
import { timeline } from './timeline.ts'

beforeEach(() => {
  const missing = { error: { code: 'asset_not_found', message: 'none' } }
  vi.stubGlobal('fetch', async () => Response.json(missing, { status: 404 }))
})

const call = (id: string, args: unknown = {}) => ({
  id,
  name: `tool_${id}`,
  arguments: args as never,
})
const result = (id: string, change: Partial<Message> = {}) =>
  message({ ...change, metadata: { tool_result: { tool_call_id: id }, ...change.metadata } })

describe('ThreadItem', () => {
  it('shows the attribution after the name, for every role, and never as markup', async () => {
    for (const role of ['user', 'assistant', 'system', 'made-up']) {
      const sender = { participant_id: 'x', participant_role: role, name: 'Kim' }
      const view = await show(message({ sender, metadata: { attribution: '<b>desk</b>' } }))
      expect(screen.getByText('Kim').nextSibling?.textContent).toBe('<b>desk</b>')
      view.unmount()
    }
  })

  it('shows no empty attribution, and reports one that is not text', async () => {
    await show(
      message({ content_type: 'text/plain', content: 'a', metadata: { attribution: ' ' } }),
      message({ content_type: 'text/plain', content: 'b', metadata: { attribution: 5 } as never }),
    )
    const [first, second] = screen.getAllByRole('article')
    expect(first?.querySelector('header p')?.childNodes).toHaveLength(2)
    expect(first?.textContent).not.toContain('Malformed')
    expect(second?.textContent).toContain('Malformed: metadata.attribution is not text')
  })

  it('shows the sources of an answer, as links if they are pages', async () => {
    const answer_sources = [
      { url: 'https://rain.example/', title: 'Rain today' },
      { url: 'https://sun.example/' },
      { url: 'javascript:alert(1)', title: 'Trick' },
    ]
    await show(message({ metadata: { answer_sources } }))
    const sources = within(screen.getByRole('list', { name: 'Sources' }))
    expect(sources.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
      '1. Rain today',
      '2. https://sun.example/',
      '3. Trick',
    ])
    const urls = sources.getAllByRole('link').map((link) => link.getAttribute('href'))
    expect(urls).toEqual(['https://rain.example/', 'https://sun.example/'])
  })

  it('makes an in-app link from href, and none from chat or from an invalid URL', async () => {
    await show(
      message({
        message_type: 'notice',
        content_type: 'text/plain',
        content: 'to two',
        metadata: { href: '/c/2' },
      }),
      message({
        message_type: 'note',
        content_type: 'text/plain',
        content: 'out',
        metadata: { href: 'https://example.org/' },
      }),
      message({ message_type: 'notice', metadata: { href: 'javascript:alert(1)' } }),
      message({ content_type: 'text/plain', metadata: { href: '/c/3' } }),
    )
    const [inner, outer, ...rest] = screen.getAllByRole('link')
    expect(inner?.getAttribute('href')).toBe('/c/2')
    expect(inner).toBe(screen.getByRole('link', { name: 'to two' }))
    expect(outer?.getAttribute('target')).toBe('_blank')
    expect(outer).toBe(screen.getByRole('link', { name: 'out (opens in a new tab)' }))
    expect(rest).toEqual([])
    expect(document.querySelector('a a')).toBeNull()
    expect(screen.getByText(/Not a link:/).textContent).toContain('javascript:alert(1)')
  })

  it('shows a debug button only if there is debug data, and sends no request', async () => {
    const asked = vi.fn(fetch)
    vi.stubGlobal('fetch', asked)
    await show(
      message({ content_type: 'text/plain', metadata: { has_debug_data: true } }),
      message({ content_type: 'text/plain', metadata: { debug: { a: 1 } } }),
    )
    expect(screen.getAllByRole('button', { name: 'Debug' })).toHaveLength(1)
    expect(asked).not.toHaveBeenCalled()
  })

  it('shows calls with their arguments, references as links, whatever the type of message', async () => {
    const data = { type: 'data', kind: 'state', data: { total: 3 } }
    await show(
      message({ content_type: 'data', content: data }),
      message({
        message_type: 'note',
        metadata: {
          tool_calls: [call('1', { rows: 'asset://a1/content/rows', from: '†state.total', n: 3 })],
        },
      }),
    )
    const card = screen.getByRole('article', { name: 'Call of tool_1' })
    const links = within(card).getAllByRole('link')
    expect(links.map(({ textContent }) => textContent)).toEqual([
      'asset://a1/content/rows',
      '†state.total',
    ])
    expect(links[0]?.getAttribute('href')).toContain('asset=a1')
    expect(links[1]?.getAttribute('href')).toContain('data=state')
    expect(card.textContent).toContain('no result recorded')
  })

  it('accepts arguments in every form', async () => {
    await show(
      message({
        metadata: {
          tool_calls: [
            call('1', {}),
            call('2', null),
            call('3', '{"from":"text"}'),
            { id: '4', name: 'tool_4' } as never,
            call('5', [1]),
          ],
        },
      }),
    )
    const shown = screen.getAllByRole('article', { name: /^Call of/ })
    const texts = shown.map(({ textContent }) =>
      textContent?.replace(/^tool_. no result recorded/, ''),
    )
    expect(texts.filter((text) => text === 'No arguments')).toHaveLength(3)
    expect(texts[2]).toBe('from"text"')
    expect(texts[4]).toContain('arguments')
  })

  it('gives each use of a reused call id its own result', async () => {
    await show(
      message({ id: 'a', metadata: { tool_calls: [call('1')] } }),
      result('1', { id: 'r1', content: 'first' }),
      message({ id: 'b', metadata: { tool_calls: [call('1')] } }),
      result('1', { id: 'r2', content: 'second' }),
    )
    for (const step of screen.getAllByRole('button', { name: /1 call/ })) fireEvent.click(step)
    expect(screen.queryByText(/another result/)).toBeNull()
    const cards = screen.getAllByRole('article', { name: 'Call of tool_1' })
    const results = cards.map((card) => within(card).getByRole('group', { name: 'Result' }))
    expect(results.map(({ id }) => id)).toEqual(['m-r1', 'm-r2'])
    expect(results.map(({ textContent }) => textContent)).toEqual(['Resultfirst', 'Resultsecond'])
  })

  it('shows a call with its result in one card, and a failed one with its code', async () => {
    const error = { code: 'tool_failed', message: 'The disk is full.' }
    await show(
      message({ id: 'q', metadata: { tool_calls: [call('1'), call('2')] } }),
      result('2', {
        id: 'r2',
        content: '',
        metadata: { tool_result: { tool_call_id: '2', error } },
      }),
      result('1', {
        id: 'r1',
        message_type: 'command',
        content: { command: 'not a command', ok: true },
      }),
    )
    const failed = screen.getByRole('article', { name: 'Call of tool_2' })
    expect(failed.textContent).toContain('failed')
    expect(failed.textContent).toContain('tool_failed')
    expect(failed.textContent).toContain('The disk is full.')
    const first = screen.getByRole('article', { name: 'Call of tool_1' })
    expect(first.textContent).toContain('done')
    expect(within(first).getByRole('tree', { name: 'Result' })).toBeTruthy()
    expect(screen.queryByRole('article', { name: /Result of/ })).toBeNull()
  })

  it('links a separate result and its call in both directions', async () => {
    await show(
      message({ id: 'q', metadata: { tool_calls: [call('1')] } }),
      message({ id: 'between', sender: { participant_id: 'u', participant_role: 'user' } }),
      result('1', { id: 'r1', content: 'late' }),
    )
    fireEvent.click(screen.getByRole('button', { name: /1 call/ }))
    const card = screen.getByRole('article', { name: 'Call of tool_1' })
    const there = within(card).getByRole('link', { name: 'Go to result' })
    expect(there.getAttribute('href')).toContain('#m-r1')
    const late = screen.getByRole('article', { name: 'Result of tool_1' })
    const back = within(late).getByRole('link', { name: 'Go to call' })
    expect(back.getAttribute('href')).toContain('#call-1')
  })

  it('marks a result whose call is unknown, and a second result', async () => {
    await show(
      message({ metadata: { tool_calls: [call('1')] } }),
      result('1', { content: 'first' }),
      result('1', { content: 'second' }),
      result('tool_result_1', { content: 'lost' }),
    )
    expect(screen.getByText(/Result without a call/).textContent).toContain('tool_result_1')
    expect(screen.getAllByText(/another result for the same call/)).toHaveLength(1)
    expect(screen.getByText('lost')).toBeTruthy()
  })

  it('shows a running call with its progress', async () => {
    const running = call('1')
    await show(
      runStarted(),
      stepStarted('q'),
      message({ id: 'q', metadata: { tool_calls: [running] } }),
      { type: 'TOOL_CALL_END', toolCallId: '1', runId: 'r', parentMessageId: 'q', call: running },
      { type: 'TOOL_STARTED', toolCallId: '1', runId: 'r', attempt: 1 },
      { type: 'TOOL_PROGRESS', payload: { toolCallId: '1', message: 'Drawing', fraction: 0.4 } },
    )
    expect(screen.getByRole('progressbar', { name: 'Drawing' }).getAttribute('aria-valuenow')).toBe(
      '40',
    )
  })

  it('shows the pictures of a result, wherever they are', async () => {
    const chart = { assetRef: 'asset://a1', mimeType: 'image/png', kind: 'image', name: 'Rain' }
    await show(
      message({ metadata: { tool_calls: [call('1')] } }),
      result('1', { content: { deep: [{ chart }] } }),
    )
    expect(screen.getByRole('img', { name: 'Rain' }).getAttribute('src')).toBe(
      '/api/assets/a1/content',
    )
  })

  it('shows a write to the board as a line that names it', async () => {
    const content = { type: 'data', kind: 'state', data: { a: 1 }, _path: ['sum'], _call: '1' }
    await show(
      message({ metadata: { tool_calls: [call('1')] } }),
      message({ id: 'w', content_type: 'data', content }),
    )
    const line = document.getElementById('m-w') as HTMLElement
    expect(within(line).getByText('†state.sum')).toBeTruthy()
    expect(line.textContent).toContain('from tool_1')
    expect(within(line).queryByRole('tree')).toBeNull()
  })

  it('shows plain text unchanged', async () => {
    await show(message({ content_type: 'text/plain', content: '# no **heading** <b>x</b>' }))
    expect(screen.getByText('# no **heading** <b>x</b>')).toBeTruthy()
  })

  it('sanitises Markdown, and shows only media of assets', async () => {
    const content =
      '**bold** <script>alert(1)</script><img src=x onerror=alert(1)> ![far](https://example.org/x.png) ' +
      '![near](<|asset://a1|>) [evil](javascript:alert(1)) <|im_start|>'
    const { container } = await show(message({ content }))
    expect(await screen.findByText('bold')).toBeTruthy()
    expect(container.querySelector('script, [onerror], iframe')).toBeNull()
    expect(screen.getAllByRole('img').map((image) => image.getAttribute('src'))).toEqual([
      '/api/assets/a1/content',
    ])
    expect(screen.queryByRole('link', { name: 'evil' })).toBeNull()
    expect(container.textContent).toContain('<|im_start|>')
  })

  it('marks a reference that leads to nothing', async () => {
    await show(message({ content: 'see <|asset://gone|>' }))
    expect(await screen.findByText('This file does not exist.')).toBeTruthy()
  })

  it('shows the value of a variable, and marks one without a value', async () => {
    const state = {
      type: 'data',
      kind: 'state',
      data: { total: 284.5, rows: [1], far: 'asset://t' },
    }
    await show(
      message({ content_type: 'data', content: state }),
      message({
        content:
          'It is <|†state.total|> of `†state.rows`, `†state.far.rows`, `†state.none` and <|†gone|>',
      }),
      message({ content_type: 'text/plain', content: 'Plain: <|†state.total|>.' }),
    )
    const links = (await screen.findAllByRole('link')).map(({ textContent }) => textContent)
    expect(links).toEqual(['†state', '284.5', '†state.rows', '†state.far.rows', '284.5'])
    const broken = screen.getAllByText('This value does not exist.')
    expect(broken.map(({ parentElement }) => parentElement?.textContent)).toEqual([
      '†state.noneThis value does not exist.',
      '†goneThis value does not exist.',
    ])
  })

  it('marks a missing picture', async () => {
    await show(message({ content: '![Rain](<|asset://gone|>)' }))
    fireEvent.error(await screen.findByRole('img', { name: 'Rain' }))
    expect(screen.queryByRole('img')).toBeNull()
    expect(await screen.findByText('This file does not exist.')).toBeTruthy()
  })

  it('folds log messages, and shows their metadata', async () => {
    await show(
      message({
        id: 'l1',
        message_type: 'log',
        content: { disk: 'full' },
        metadata: { attribution: 'cleaner', footer_items: ['3 s'], has_debug_data: true },
      }),
      message({ message_type: 'log', content: 'plain', metadata: { footer_items: 3 } as never }),
    )
    const group = screen.getByText('2 log messages').closest('details') as HTMLElement
    expect(group.hasAttribute('open')).toBe(false)
    const log = within(group)
      .getByText(/cleaner/)
      .closest('li') as HTMLElement
    expect(log.id).toBe('m-l1')
    expect(log.textContent).toContain('3 s')
    expect(within(log).getByRole('button', { name: 'Debug' })).toBeTruthy()
    expect(group.textContent).toContain('Malformed: metadata.footer_items is not a list')
  })

  it('links from a footer on tokens to their usage', async () => {
    const footer_items = ['6.8k of 50k (13%) tokens used for request', 'twice', 'twice']
    const view = await show(message({ metadata: { footer_items, has_debug_data: true } }))
    const link = screen.getByRole('link', { name: /6\.8k/ })
    expect(decodeURIComponent(link.getAttribute('href') ?? '')).toContain('debug=/response/usage')
    expect(screen.getAllByText('twice')).toHaveLength(2)
    view.unmount()
    await show(
      message({ content_type: 'text/plain', metadata: { footer_items: '9 tokens' as never } }),
    )
    expect(screen.getByText('9 tokens')).toBeTruthy()
    expect(screen.queryByRole('link')).toBeNull()
  })

  it('shows HTML in a sandbox, and its source', async () => {
    const content = '<h1 onclick="alert(1)">Report</h1>'
    await show(message({ content_type: 'text/html', content }))
    const frame = screen.getByTitle('HTML of the message')
    expect(frame.getAttribute('sandbox')).toBe('')
    expect(frame.getAttribute('srcdoc')).toContain("default-src 'none'")
    expect(frame.getAttribute('srcdoc')).toContain(content)
    fireEvent.click(screen.getByRole('button', { name: 'Source' }))
    expect(screen.getByText(content)).toBeTruthy()
  })

  it('still shows other messages if one is malformed', async () => {
    await show(
      message({ content: undefined, sender: undefined as never }),
      message({ content: { toString: 1 }, metadata: { tool_calls: 'x', attachments: 3 } as never }),
      message({ content_type: 'data', content: 7 }),
      message({ content_type: 'multipart/mixed', content: [null, 3, { type: 'image_url' }] }),
      message({ message_type: 'command', content_type: 'command', content: 'odd' }),
      message({ content_type: 'text/plain', content: 'fine' }),
    )
    expect(screen.getByText('fine')).toBeTruthy()
  })

  it('shows why a run ended', async () => {
    const ids = { threadId: 'c', runId: 'r' }
    await show(runStarted(), {
      type: 'RUN_ERROR',
      ...ids,
      code: 'model_unauthorized',
      message: 'The key is wrong.',
    })
    expect(screen.getByText('model_unauthorized')).toBeTruthy()
    expect(screen.getByText('The key is wrong.')).toBeTruthy()
    expect(screen.getByText(/rejected the API key\. What is shown here is saved/)).toBeTruthy()
  })

  it('reports that an answer was cut off, if a part of it exists', async () => {
    await show(runStarted(), stepStarted('half'), message({ id: 'half', content: 'The first' }), {
      type: 'RUN_ERROR',
      threadId: 'c',
      runId: 'r',
      code: 'model_failed',
      message: 'The connection was closed.',
    })
    expect(screen.getByText(/The answer broke off/)).toBeTruthy()
    expect(screen.queryByText(/The model did not answer/)).toBeNull()
  })
})

function show(...parts: (Message | ConversationEvent)[]) {
  const state = stateOf(...parts)
  const items = timeline(state).map((item) => <ThreadItem key={item.key} item={item} />)
  return renderInApp(items, { state })
}
