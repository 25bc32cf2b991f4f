import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { ApiError, type ConversationChange, type CostSum, type RunSummary } from 'byref/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { renderInApp } from '../testing/render-in-app.tsx'
import { client } from '../testing/server.ts'
import { RunsPage } from './runs-page.tsx'

const now = new Date()
const today = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
  .map((part) => String(part).padStart(2, '0'))
  .join('-')

const run: RunSummary = {
  runId: 'r1',
  conversation: 'c1',
  title: 'Pay the bill',
  parentRunId: null,
  agent: 'payer',
  models: ['large'],
  startedAt: now.toISOString(),
  finishedAt: now.toISOString(),
  status: 'failed',
  reason: null,
  error: 'model_failed',
  steps: 3,
  calls: 4,
  failedCalls: 1,
  tools: ['pay', 'look_up'],
  inputTokens: 1200,
  cachedInputTokens: null,
  outputTokens: 34,
  cost: 1.25,
}

const sum: CostSum = {
  period: null,
  group: null,
  runs: 2,
  failedRuns: 1,
  inputTokens: 2400,
  outputTokens: 68,
  cachedInputTokens: 100,
  cost: 1250.5,
  unpricedRuns: 1,
}

/** The sums of one day by model. */
const byModel: CostSum[] = [
  { ...sum, period: today, group: 'large', cost: 1000 },
  { ...sum, period: today, group: 'small', cost: 250.5 },
]

let runs: RunSummary[] = [run]
let change: (change: ConversationChange) => void

beforeEach(() => {
  runs = [run]
  vi.spyOn(client, 'runs').mockImplementation(async () => ({ runs, next: null }))
  vi.spyOn(client, 'costs').mockImplementation(async ({ by } = {}) => {
    if (runs.length === 0) return []
    return by ? byModel : [sum]
  })
  vi.spyOn(client, 'followConversations').mockImplementation(async (onChange) => {
    change = onChange
  })
})
afterEach(() => vi.restoreAllMocks())

const row = async () => within(await screen.findByRole('region', { name: 'Runs' }))

describe('RunsPage', () => {
  it('shows each run with a link to its place', async () => {
    await renderInApp(<RunsPage />)
    const link = (await row()).getByRole('link', { name: /^Pay the bill/ })
    expect(link.getAttribute('href')).toBe('/c/c1?tab=run&run=r1')
    const cells = (await row()).getAllByRole('cell').map(({ textContent }) => textContent)
    expect(cells.slice(1)).toEqual([
      ...['Failedmodel_failed', '$1.25', '0 ms', '1,234', 'payer', 'large', '3'],
      'paylook_up1 of 4 failed',
    ])
  })

  it('adds up the matching runs, also as a table', async () => {
    await renderInApp(<RunsPage />)
    const sums = (await screen.findByText('Input tokens')).closest('dl') as HTMLElement
    expect(sums.textContent).toContain('$1,250.50')
    expect(sums.textContent).toContain('1 without a known price')
    const table = within(screen.getByRole('table', { name: 'Cost per day' }))
    expect(table.getAllByRole('columnheader').map((one) => one.textContent)).toEqual([
      ...['Day', 'large', 'small'],
    ])
    expect(table.getAllByRole('cell').map((one) => one.textContent)).toEqual([
      ...['$1,000.00', '$250.50'],
    ])
    fireEvent.change(screen.getByLabelText('Show'), { target: { value: 'tokens' } })
    await screen.findByRole('table', { name: 'Tokens per day' })
  })

  it('shows tokens if no price is known', async () => {
    vi.mocked(client.costs).mockImplementation(async ({ by } = {}) => [
      { ...sum, cost: null, period: by ? today : null },
    ])
    await renderInApp(<RunsPage />)
    await screen.findByRole('table', { name: 'Tokens per day' })
    expect(screen.getByText('Unknown')).toBeTruthy()
  })

  it('filters by what a person chooses and types, and keeps it in the URL', async () => {
    const { router } = await renderInApp(<RunsPage />, { at: '/runs?range=7d' })
    fireEvent.change(screen.getByLabelText('Status'), { target: { value: 'failed' } })
    fireEvent.change(screen.getByLabelText('Seconds at least'), { target: { value: '1.5' } })
    const asked = { status: 'failed', minDurationMs: 1500 }
    await waitFor(() =>
      expect(client.runs).toHaveBeenLastCalledWith(expect.objectContaining(asked)),
    )
    expect(client.costs).toHaveBeenCalledWith(expect.objectContaining({ ...asked, by: 'day' }))
    expect(router.state.location.search).toEqual({
      range: '7d',
      status: 'failed',
      minDuration: 1.5,
    })
    fireEvent.click((await row()).getByRole('button', { name: 'look_up' }))
    await waitFor(() =>
      expect(router.state.location.search).toMatchObject({ status: 'failed', tool: 'look_up' }),
    )
    expect((screen.getByLabelText('Tool') as HTMLInputElement).value).toBe('look_up')
    fireEvent.click(screen.getByRole('button', { name: 'Clear filters' }))
    await waitFor(() => expect(router.state.location.search).toEqual({ range: '7d' }))
    expect((screen.getByLabelText('Tool') as HTMLInputElement).value).toBe('')
  })

  it('keeps a filter that has changed just before another', async () => {
    const { router } = await renderInApp(<RunsPage />, { at: '/runs' })
    act(() => {
      fireEvent.change(screen.getByLabelText('Status'), { target: { value: 'failed' } })
      fireEvent.change(screen.getByLabelText('Time'), { target: { value: '7d' } })
    })
    await waitFor(() =>
      expect(router.state.location.search).toEqual({ status: 'failed', range: '7d' }),
    )
  })

  it('reports that there are no runs, or that none matches', async () => {
    runs = []
    const { router, unmount } = await renderInApp(<RunsPage />)
    await screen.findByText('No runs yet')
    unmount()
    vi.mocked(client.runs).mockImplementation(async ({ tool, limit } = {}) => ({
      runs: tool === undefined || limit === 1 ? [run] : [],
      next: null,
    }))
    const again = await renderInApp(<RunsPage />, { at: '/runs?tool=none' })
    const empty = (await screen.findByText('No run matches')).parentElement as HTMLElement
    runs = [run]
    fireEvent.click(within(empty).getByRole('button', { name: 'Clear filters' }))
    await row()
    expect(again.router.state.location.search).toEqual({ range: 'all' })
    expect(router).toBeTruthy()
  })

  it('shows why runs could not be loaded, and retries', async () => {
    vi.mocked(client.costs).mockRejectedValue(new ApiError(500, 'log_failed', 'The disk is gone.'))
    await renderInApp(<RunsPage />)
    const alert = await screen.findByRole('alert')
    expect(alert.textContent).toContain('The disk is gone.')
    vi.mocked(client.costs).mockImplementation(async ({ by } = {}) => (by ? byModel : [sum]))
    fireEvent.click(within(alert).getByRole('button', { name: 'Retry' }))
    await row()
  })

  it('reloads the runs when one ends', async () => {
    await renderInApp(<RunsPage />)
    await row()
    runs = [{ ...run, runId: 'r2', title: 'Another' }, run]
    act(() => change({ type: 'deleted', id: 'c9' }))
    await (await row()).findByRole('link', { name: /^Another/ })
  })
})
