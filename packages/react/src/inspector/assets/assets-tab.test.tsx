import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import type { AssetCreated, AssetDetails } from 'byref/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { message, stateOf } from '../../testing/messages.ts'
import { renderInApp } from '../../testing/render-in-app.tsx'
import { client } from '../../testing/server.ts'
import { AssetsTab } from './assets-tab.tsx'

const created = (assetId: string, change: Partial<AssetCreated> = {}) => {
  const payload = {
    assetId,
    ref: `asset://${assetId}`,
    mime: 'image/png',
    kind: 'image',
    by: 'tool',
  }
  return { type: 'ASSET_CREATED', payload: { ...payload, ...change } as AssetCreated } as const
}
const file = { kind: 'file', mime: 'application/octet-stream', size: 1_500, name: 'a.bin' } as const

function details(change: Partial<AssetDetails['asset']> = {}) {
  return vi.spyOn(client, 'asset').mockImplementation(async (ref) => {
    const assetId = ref.replace('asset://', '')
    const asset = { assetId, ref: `asset://${assetId}`, digest: 'd', createdAt: '', table: null }
    return { asset: { ...asset, ...file, ...change }, meta: {} } as AssetDetails
  })
}

afterEach(() => vi.restoreAllMocks())

describe('AssetsTab', () => {
  it('shows a thousand assets in parts, without a request for each', async () => {
    const asked = details()
    const all = Array.from({ length: 500 }, (_, i) => [created(`p${i}`), created(`f${i}`, file)])
    await renderInApp(<AssetsTab />, { state: stateOf(...all.flat()) })
    const items = (name: string) =>
      within(screen.getByRole('list', { name })).getAllByRole('listitem').length
    expect([items('Pictures'), items('Files')]).toEqual([36, 36])
    fireEvent.click(screen.getByRole('button', { name: '… 464 more files' }))
    expect(items('Files')).toBe(72)
    expect(screen.getAllByText('application/octet-stream · 1.5 KB')).toHaveLength(72)
    expect(asked).not.toHaveBeenCalled()
  })

  it('says of a damaged image that it cannot be shown', async () => {
    details()
    await renderInApp(<AssetsTab />, { state: stateOf(created('p', { name: 'boat.png' })) })
    const picture = screen.getByRole('link', { name: 'boat.png' })
    fireEvent.error(within(picture).getByRole('presentation'))
    expect(picture.textContent).toBe('Cannot be shownboat.png')
  })

  it('lists a file with several versions once, as the newest', async () => {
    details()
    const edit = { ...file, previous: 'asset://v1' }
    await renderInApp(<AssetsTab />, { state: stateOf(created('v1', file), created('v2', edit)) })
    const files = within(screen.getByRole('list', { name: 'Files' })).getAllByRole('link')
    expect(files.map((one) => new URL((one as HTMLAnchorElement).href).search)).toEqual([
      '?asset=v2',
    ])
  })

  it('shows the size of a table, and the file that it was made from', async () => {
    details({ name: 'rain.csv', table: { rows: 3, columns: 2, source: 'asset://src' } })
    const meta = { 'content/columns/0/name': 'city', 'content/rows/0': '<cut from 3 items>' }
    const state = stateOf(created('t', { ...file, meta }))
    const { unmount } = await renderInApp(<AssetsTab />, { state })
    expect(screen.getByText(/1 column/)).toBeTruthy()
    unmount()
    await renderInApp(<AssetsTab />, { state, at: '/?asset=t' })
    const original = await screen.findByRole('link', { name: 'rain.csv' })
    expect(original.getAttribute('href')).toContain('asset=src')
  })

  it('does not claim that the reader uploaded a file', async () => {
    details()
    const state = stateOf(created('f', { ...file, by: 'user' }))
    await renderInApp(<AssetsTab />, { state, at: '/?asset=f' })
    expect((await screen.findByText('Uploaded by')).nextSibling?.textContent).toBe('a person')
  })

  it('lets an owner delete an asset after a confirmation', async () => {
    details()
    const remove = vi.spyOn(client, 'deleteAsset').mockResolvedValue()
    const state = stateOf(created('f', file), message())
    const { router } = await renderInApp(<AssetsTab />, { state, at: '/?asset=f' })
    fireEvent.click(await screen.findByRole('button', { name: 'Delete' }))
    expect(remove).not.toHaveBeenCalled()
    fireEvent.click(
      within(await screen.findByRole('dialog')).getByRole('button', { name: 'Delete' }),
    )
    await waitFor(() => expect(router.state.location.search).toEqual({}))
    expect(remove).toHaveBeenCalledWith('asset://f')
  })

  it('does not let a member delete it', async () => {
    details()
    await renderInApp(<AssetsTab />, {
      state: stateOf(created('f', file)),
      at: '/?asset=f',
      role: 'member',
    })
    await screen.findByRole('link', { name: 'Download' })
    expect(screen.queryByRole('button', { name: 'Delete' })).toBeNull()
  })

  it('shows another asset from scratch, with nothing left of the previous table', async () => {
    const meta = {
      'content/columns/0/name': 'city',
      'content/rows': [],
      'content/rows/0/city': 'Rom',
    }
    const table = { rows: 1, columns: 1, source: null }
    const rows = vi.spyOn(client, 'rows').mockResolvedValue({
      rows: [{ city: 'Rom' }],
      total: 1,
      offset: 0,
      next: null,
      columns: [],
    })
    vi.spyOn(client, 'asset').mockImplementation(async (ref) => {
      const assetId = ref.replace('asset://', '')
      const asset = {
        ...file,
        assetId,
        ref: `asset://${assetId}`,
        digest: 'd',
        createdAt: '',
        table,
      }
      return { asset, meta } as unknown as AssetDetails
    })
    const state = stateOf(message())
    const { router } = await renderInApp(<AssetsTab />, { at: '/?asset=b', state })
    const open = (asset: string) => router.navigate({ to: '/', search: { asset } as never })
    const asked = () => rows.mock.calls.map(([ref, { sort } = {}]) => `${ref} ${sort}`)
    await waitFor(() => expect(asked()).toContain('asset://b undefined'))
    await open('a')
    await waitFor(() => expect(asked()).toContain('asset://a undefined'))
    fireEvent.click(await screen.findByRole('button', { name: /^city/ }))
    await waitFor(() => expect(asked()).toContain('asset://a city'))
    await open('b')
    await waitFor(() => expect(router.state.location.search).toEqual({ asset: 'b' }))
    expect(screen.getByRole('columnheader', { name: /^city/ }).ariaSort ?? 'none').toBe('none')
    expect(asked()).not.toContain('asset://b city')
  })
})
