import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { foldLines } from '../testing/fold-lines.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { client } from '../testing/server.ts'
import { Samples } from './samples.tsx'

const read = (path: string) =>
  readFile(join(import.meta.dirname, '../../../../web/public', path), 'utf8')

beforeEach(() => {
  vi.stubGlobal('fetch', async (path: string) => new Response(await read(path)))
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

describe('Samples', () => {
  it('uploads the files of a sample and imports it with their new ids', async () => {
    vi.spyOn(client, 'conversationSummary').mockResolvedValue(null)
    let count = 0
    const upload = vi.spyOn(client, 'upload').mockImplementation(async () => {
      const saved = (kind: string) => ({ assetId: `new-${kind}-${count}` })
      count++
      return { asset: saved('file'), table: saved('table') } as never
    })
    const imported = vi.spyOn(client, 'importConversation').mockResolvedValue({ id: 'x' })
    const { router } = await renderInApp(<Samples />)
    fireEvent.click(await screen.findByRole('button', { name: /^Four years of weather/ }))
    await waitFor(() => expect(router.state.location.pathname).toBe('/c/sample-weather'))
    const names = upload.mock.calls.map(([file]) => (file as File).name)
    expect(names).toContain('seattle-weather.csv')
    const state = foldLines(imported.mock.lastCall?.[0] as string)
    expect(state.messages.length).toBeGreaterThan(8)
    for (const { ref } of state.assets) expect(ref).toMatch(/^asset:\/\/new-(file|table)-\d$/)
    expect(imported.mock.lastCall?.[1]).toEqual({ id: 'sample-weather' })
    // It opens at its start.
    expect(router.state.location.hash).toBe(`m-${state.messages[0]?.id}`)
  })

  it('opens a sample that already exists', async () => {
    vi.spyOn(client, 'conversationSummary').mockResolvedValue({} as never)
    const upload = vi.spyOn(client, 'upload')
    const { router } = await renderInApp(<Samples />)
    expect(await screen.findByText(/These conversations are recordings/)).toBeDefined()
    fireEvent.click(await screen.findByRole('button', { name: /^Refunds/ }))
    await waitFor(() => expect(router.state.location.pathname).toBe('/c/sample-refunds'))
    expect(upload).not.toHaveBeenCalled()
  })

  it('is hidden from users who may not import', async () => {
    await renderInApp(<Samples />, { role: 'member' })
    expect(screen.queryByRole('button')).toBeNull()
  })

  it.each(['weather', 'refunds', 'mail', 'every-kind'])('is complete: %s', async (name) => {
    const { lines, files } = JSON.parse(await read(`/samples/${name}.json`))
    const state = foldLines(lines.join('\n'))
    const known = files.flatMap(({ asset, table }: { asset: string; table?: string }) => [
      asset,
      table,
    ])
    for (const { assetId } of state.assets) expect(known).toContain(assetId)
    expect(state.runs.filter(({ status }) => status === 'running')).toEqual([])
  })
})
