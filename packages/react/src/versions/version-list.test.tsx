import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import type { AssetCreated, AssetInfo, ConversationEvent, Message } from 'byref/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Notifications } from '../app/notifications.tsx'
import { onSuggestion, type Suggestion } from '../composer/suggestions.ts'
import { message, stateOf } from '../testing/messages.ts'
import { type RenderOptions, renderInApp } from '../testing/render-in-app.tsx'
import { client } from '../testing/server.ts'
import { VersionList } from './version-list.tsx'

const EDITED = (assetId: string) => ({
  by: 'tool',
  tool: 'edit_asset',
  toolCallId: `call-of-${assetId}`,
})
const version = (assetId: string, previous?: string) =>
  ({
    assetId,
    ref: `asset://${assetId}`,
    size: 10,
    name: 'plan.md',
    table: null,
    createdAt: '2026-01-01T12:00:00.000Z',
    ...(previous ? { previous: `asset://${previous}`, ...EDITED(assetId) } : { by: 'user' }),
  }) as AssetInfo

const VERSIONS = [version('v1'), version('v2', 'v1'), version('v3', 'v2')]

const created = (assetId: string, previous: string): ConversationEvent => ({
  type: 'ASSET_CREATED',
  payload: {
    assetId,
    ref: `asset://${assetId}`,
    mime: 'text/markdown',
    kind: 'file',
    by: 'tool',
    tool: 'edit_asset',
    toolCallId: `call-of-${assetId}`,
    previous: `asset://${previous}`,
  } as AssetCreated,
})

const saved = (kind: string, data: unknown): Message =>
  message({ content_type: 'data', content: { type: 'data', kind, data } as never })

let stop = () => {}
let suggested: Suggestion[] = []

beforeEach(() => {
  suggested = []
  stop = onSuggestion('c1', (one) => suggested.push(one))
})
afterEach(() => {
  stop()
  vi.restoreAllMocks()
})

function show(id: string, parts: (Message | ConversationEvent)[], options: RenderOptions = {}) {
  const state = stateOf(...parts)
  const all = [<VersionList key="list" id={id} />, <Notifications key="notifications" />]
  return renderInApp(all, { ...options, state })
}

const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }))

describe('VersionList', () => {
  it('lists the maker of each version, newest first, and marks the current one', async () => {
    vi.spyOn(client, 'versions').mockResolvedValue(VERSIONS)
    await show('v2', [created('v2', 'v1'), created('v3', 'v2')])
    const items = within(await screen.findByRole('list', { name: 'Versions' })).getAllByRole(
      'listitem',
    )
    expect(items.map((one) => one.textContent?.slice(0, 9))).toEqual([
      'Version 3',
      'Version 2',
      'Version 1',
    ])
    expect(items.map((one) => one.getAttribute('aria-current'))).toEqual([null, 'true', null])
    const [newest, , first] = items as [HTMLElement, HTMLElement, HTMLElement]
    expect(newest.textContent).toContain('by edit_asset')
    const step = within(newest).getByRole('link', { name: /^Go to call/ }) as HTMLAnchorElement
    expect(new URL(step.href).hash).toBe('#call-call-of-v3')
    const compare = within(newest).getByRole('link', { name: /^Compare/ }) as HTMLAnchorElement
    expect(new URL(compare.href).searchParams.get('compare')).toBe('v3')
    // The first version has no version before it.
    expect(within(first).queryByRole('link', { name: /^Compare/ })).toBeNull()
  })

  it('shows nothing for an asset with one version', async () => {
    const asked = vi.spyOn(client, 'versions').mockResolvedValue([version('v1')])
    await show('v1', [])
    await waitFor(() => expect(asked).toHaveBeenCalled())
    expect(screen.queryByRole('list', { name: 'Versions' })).toBeNull()
  })

  it('undoes and redoes in the saved value that names a version, and keeps the rest of the value', async () => {
    vi.spyOn(client, 'versions').mockResolvedValue(VERSIONS)
    const edit = vi.spyOn(client, 'editData').mockResolvedValue({ messageId: 'm' })
    const data = { docs: [{ assetRef: 'asset://v2', title: 'Plan' }] }
    const { router } = await show('v3', [saved('state', data)])
    await screen.findByRole('list', { name: 'Versions' })
    press('Undo')
    await screen.findByText(/^†state.docs\[0\] is now version 1 of plan.md/)
    const target = { kind: 'state', _path: ['docs', 0], _outputMethod: 'set' }
    expect(edit).toHaveBeenLastCalledWith('c1', {
      ...target,
      data: { assetRef: 'asset://v1', title: 'Plan' },
    })
    await waitFor(() => expect(router.state.location.search).toEqual({ asset: 'v1' }))
    press('Redo')
    await screen.findByText(/^†state.docs\[0\] is now version 3 of plan.md/)
    expect(edit).toHaveBeenLastCalledWith('c1', {
      ...target,
      data: { assetRef: 'asset://v3', title: 'Plan' },
    })
    expect(suggested).toEqual([])
  })

  it('redoes the newest of several edits of one version', async () => {
    vi.spyOn(client, 'versions').mockResolvedValue([...VERSIONS, version('v4', 'v2')])
    const edit = vi.spyOn(client, 'editData').mockResolvedValue({ messageId: 'm' })
    await show('v2', [saved('plan', 'asset://v2')])
    await screen.findByRole('list', { name: 'Versions' })
    press('Redo')
    await waitFor(() => expect(edit).toHaveBeenCalled())
    expect(edit.mock.calls[0]?.[1]).toMatchObject({ kind: 'plan', data: 'asset://v4' })
  })

  it('lets a person choose between several places', async () => {
    vi.spyOn(client, 'versions').mockResolvedValue(VERSIONS)
    const edit = vi.spyOn(client, 'editData').mockResolvedValue({ messageId: 'm' })
    await show('v3', [saved('state', { now: 'asset://v3', old: 'asset://v2' })])
    const place = await screen.findByRole('combobox', { name: 'in' })
    expect(place).toHaveProperty('value', '†state.now')
    fireEvent.change(place, { target: { value: '†state.old' } })
    press('Undo')
    await waitFor(() => expect(edit).toHaveBeenCalled())
    expect(edit.mock.calls[0]?.[1]).toMatchObject({ _path: ['old'], data: 'asset://v1' })
  })

  it('attaches a version that no saved value names to the next message', async () => {
    vi.spyOn(client, 'versions').mockResolvedValue(VERSIONS)
    const edit = vi.spyOn(client, 'editData')
    await show('v3', [])
    await screen.findByRole('list', { name: 'Versions' })
    press('Use this version (1)')
    await screen.findByText(/^Your next message includes version 1 of plan.md/)
    expect(suggested).toEqual([
      {
        type: 'reference',
        asset: { assetRef: 'asset://v1', fileName: 'plan.md' },
        replaces: ['v1', 'v2', 'v3'],
      },
    ])
    expect(edit).not.toHaveBeenCalled()
  })

  it('shows why a value was not changed, and stays', async () => {
    vi.spyOn(client, 'versions').mockResolvedValue(VERSIONS)
    vi.spyOn(client, 'editData').mockRejectedValue(new Error('A run is active.'))
    const { router } = await show('v3', [saved('state', { plan: 'asset://v3' })])
    await screen.findByRole('list', { name: 'Versions' })
    press('Undo')
    await screen.findByText('†state.plan was not changed. A run is active.')
    expect(router.state.location.search).toEqual({})
  })

  it('offers readers only the comparison', async () => {
    vi.spyOn(client, 'versions').mockResolvedValue(VERSIONS)
    await show('v3', [saved('state', { plan: 'asset://v3' })], { role: 'reader' })
    const list = await screen.findByRole('list', { name: 'Versions' })
    expect(within(list).getAllByRole('link', { name: /^Compare/ })).toHaveLength(2)
    expect(screen.queryByRole('button', { name: /Undo|Redo|Use/ })).toBeNull()
  })
})
