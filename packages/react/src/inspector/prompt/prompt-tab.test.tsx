import { fireEvent, screen, waitFor } from '@testing-library/react'
import type { PromptInfo } from 'byref/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { message, runStarted, stateOf, stepStarted } from '../../testing/messages.ts'
import { renderInApp } from '../../testing/render-in-app.tsx'
import { client } from '../../testing/server.ts'
import { formatCount } from '../../ui/format.ts'
import { PromptTab } from './prompt-tab.tsx'

const usage = { inputTokens: null, outputTokens: null }
const ended = (messageId: string) =>
  ({
    type: 'STEP_FINISHED',
    stepName: 'step 1',
    runId: 'r',
    messageId,
    usage,
    finishReason: 'stop',
  }) as const
const state = stateOf(
  ...[runStarted(), stepStarted('one'), message({ id: 'one' }), ended('one')],
  ...[stepStarted('two'), message({ id: 'two' }), ended('two')],
)

const said = (role: string, text: string) => ({ role, content: [{ type: 'text', text }] })

function prompts(difference: PromptInfo['difference']) {
  const prompt = [said('system', 'Be brief.'), said('user', 'old'), said('user', 'new')]
  return vi.spyOn(client, 'prompt').mockImplementation(async (_, messageId) => ({
    messageId,
    model: 'm',
    prompt,
    tools: [],
    deferred: null,
    difference,
  }))
}

afterEach(() => vi.restoreAllMocks())

describe('PromptTab', () => {
  it('folds the cached part, and shows what is new and what was removed', async () => {
    prompts({ messageId: 'one', kept: 2, removed: [said('user', 'was here')], added: [] })
    await renderInApp(<PromptTab />, { state })
    const kept = await screen.findByRole('button', { name: /^2 unchanged messages \(cacheable\)/ })
    expect(screen.getByRole('list', { name: 'New' }).textContent).toContain('new')
    expect(screen.getByRole('list', { name: 'Removed' }).textContent).toContain('was here')
    expect(screen.queryByText('old')).toBeNull()
    fireEvent.click(kept)
    expect(screen.getByText('old')).toBeTruthy()
  })

  it('draws some of thousands of messages, and more on request', async () => {
    const prompt = Array.from({ length: 3_000 }, (_, i) => said('user', `said ${i}`))
    vi.spyOn(client, 'prompt').mockResolvedValue({
      messageId: 'two',
      model: 'm',
      prompt,
      tools: [],
      deferred: null,
      difference: null,
    })
    await renderInApp(<PromptTab />, { state })
    await screen.findByText('said 0')
    const drawn = () => screen.getAllByRole('article', { name: 'user' }).length
    const before = drawn()
    expect(before).toBeLessThan(100)
    fireEvent.click(screen.getByRole('button', { name: /more messages$/ }))
    expect(drawn()).toBe(2 * before)
  })

  it('selects one of hundreds of steps by its run', async () => {
    prompts(null)
    const runs = Array.from({ length: 300 }, (_, i) => [
      runStarted(`r${i}`),
      stepStarted(`m${i}`, `r${i}`),
      { ...ended(`m${i}`), runId: `r${i}` },
    ]).flat()
    await renderInApp(<PromptTab />, { state: stateOf(...runs) })
    const step = (await screen.findByLabelText('Step')) as HTMLSelectElement
    expect(step.options.length).toBeLessThan(150)
    expect(step.value).toBe('m299')
    const [search] = screen.getAllByRole('searchbox', { name: 'Search 300 steps' })
    fireEvent.change(search as Element, { target: { value: 'run 17' } })
    expect([...step.options].map(({ text }) => text)).toContain('Run 17, step 1')
    fireEvent.change(step, { target: { value: 'm16' } })
    await waitFor(() => expect(step.value).toBe('m16'))
    expect([...step.options].map(({ text }) => text)).toContain('Run 17, step 1')
  })

  it('shows what tools cost, and which searches found some before the step', async () => {
    const found = { tools: [{ name: 'crm_create_invoice' }], note: 'x'.repeat(360) }
    const call = { id: 's1', name: 'search_tools', arguments: { query: 'invoices', group: 'crm' } }
    const searched = stateOf(
      ...[runStarted(), stepStarted('one')],
      message({ id: 'one', metadata: { tool_calls: [call] } }),
      ended('one'),
      message({
        content: found as unknown as string,
        metadata: { tool_result: { tool_call_id: 's1' } },
      }),
      ...[stepStarted('two'), message({ id: 'two' }), ended('two')],
    )
    const output = { type: 'json', value: found }
    const part = { type: 'tool-result', toolCallId: 's1', toolName: 'search_tools', output }
    const answer = {
      model: 'm',
      difference: null,
      deferred: { tools: 200, bytes: 40_000 },
      tools: [
        { name: 'search_tools', description: 'x'.repeat(360) },
        { name: 'mine', of: 'x'.repeat(3_977) },
      ],
    }
    vi.spyOn(client, 'prompt').mockImplementation(async (_, messageId) => ({
      messageId,
      ...answer,
      prompt: messageId === 'two' ? [{ role: 'tool', content: [part] }] : [],
    }))
    const { router } = await renderInApp(<PromptTab />, { state: searched, at: '/?step=two' })
    await screen.findByText('2 in the prompt, 200 found by search')
    const bytes = JSON.stringify(part).length
    const costs = screen.getByText(/^Tools take about/).parentElement
    expect(costs?.textContent).toBe(
      `Tools take about ${formatCount(Math.round((4_400 + bytes) / 4))} tokens of this prompt. That is 1,100 for its tools and ${Math.round(bytes / 4)} for the result of a search. With the schemas of all tools, it would be about 11,000 in every prompt.`,
    )
    const searches = screen.getByRole('list', { name: 'Searches before this step' })
    expect(searches.textContent).toContain(
      `invoices in the group crm${Math.round(bytes / 4)} tokens`,
    )
    fireEvent.click(screen.getByRole('link', { name: 'crm_create_invoice' }))
    await waitFor(() =>
      expect(router.state.location.search).toMatchObject({
        tab: 'tools',
        tool: 'crm_create_invoice',
      }),
    )
    fireEvent.change(screen.getByLabelText('Step'), { target: { value: 'one' } })
    await screen.findByText(/That is 1,100 for its tools\. With/)
    expect(screen.queryByRole('list', { name: 'Searches before this step' })).toBeNull()
  })

  it('compares a prompt with that of any other step', async () => {
    const asked = prompts(null)
    await renderInApp(<PromptTab />, { state })
    await screen.findByText('Be brief.')
    expect(asked.mock.lastCall).toEqual(['c1', 'two', { against: undefined }])
    fireEvent.change(screen.getByLabelText('Compare with'), { target: { value: 'one' } })
    await waitFor(() => expect(asked.mock.lastCall).toEqual(['c1', 'two', { against: 'one' }]))
  })
})
