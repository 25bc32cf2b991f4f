// @vitest-environment jsdom

import { fireEvent, screen, waitFor } from '@testing-library/react'
import type { PromptInfo } from 'byref/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { message, runStarted, stateOf, stepStarted } from '../../testing/messages.ts'
import { renderInApp } from '../../testing/render-in-app.tsx'
import { client } from '../../testing/server.ts'
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
    difference,
  }))
}

afterEach(() => vi.restoreAllMocks())

describe('PromptTab', () => {
  it('folds what a cache keeps, and shows what is new and what is gone', async () => {
    prompts({ messageId: 'one', kept: 2, removed: [said('user', 'was here')], added: [] })
    await renderInApp(<PromptTab />, { state })
    const kept = await screen.findByRole('button', { name: /^2 unchanged messages \(cacheable\)/ })
    expect(screen.getByRole('list', { name: 'New' }).textContent).toContain('new')
    expect(screen.getByRole('list', { name: 'Removed' }).textContent).toContain('was here')
    expect(screen.queryByText('old')).toBeNull()
    fireEvent.click(kept)
    expect(screen.getByText('old')).toBeTruthy()
  })

  it('draws some of thousands of messages, and more when asked to', async () => {
    const prompt = Array.from({ length: 3_000 }, (_, i) => said('user', `said ${i}`))
    vi.spyOn(client, 'prompt').mockResolvedValue({
      ...{ messageId: 'two', model: 'm', prompt, tools: [], difference: null },
    })
    await renderInApp(<PromptTab />, { state })
    await screen.findByText('said 0')
    const drawn = () => screen.getAllByRole('article', { name: 'user' }).length
    const before = drawn()
    expect(before).toBeLessThan(100)
    fireEvent.click(screen.getByRole('button', { name: /more messages$/ }))
    expect(drawn()).toBe(2 * before)
  })

  it('finds one of hundreds of steps by its run', async () => {
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

  it('holds a prompt against that of any other step', async () => {
    const asked = prompts(null)
    await renderInApp(<PromptTab />, { state })
    await screen.findByText('Be brief.')
    expect(asked.mock.lastCall).toEqual(['c1', 'two', { against: undefined }])
    fireEvent.change(screen.getByLabelText('Compare with'), { target: { value: 'one' } })
    await waitFor(() => expect(asked.mock.lastCall).toEqual(['c1', 'two', { against: 'one' }]))
  })
})
