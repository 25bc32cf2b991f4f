import { fireEvent, screen, waitFor } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { renderInApp } from '../testing/render-in-app.tsx'
import { JsonExplorer } from './json-explorer.tsx'

const value = {
  rows: Array.from({ length: 300 }, (_, i) => ({ name: `n${i}`, found: i % 100 === 99 })),
}
const search = () => screen.getByRole('searchbox', { name: 'Search debug data' })
const current = () => screen.getByRole('treeitem', { current: true }).textContent

describe('JsonExplorer', () => {
  it('goes from match to match, wherever they are', async () => {
    await renderInApp(<JsonExplorer value={value} label="debug data" />)
    fireEvent.change(search(), { target: { value: 'TRUE' } })
    await screen.findByText('1 of 3 hits')
    const way = () =>
      screen
        .getAllByRole('treeitem')
        .map(({ textContent }) => textContent)
        .join()
    expect(current()).toContain('found: true')
    expect(way()).toContain('n99')
    fireEvent.click(screen.getByRole('button', { name: 'Next hit' }))
    expect(way()).toContain('n199')
    fireEvent.keyDown(search(), { key: 'Enter', shiftKey: true })
    fireEvent.keyDown(search(), { key: 'Enter', shiftKey: true })
    await screen.findByText('3 of 3 hits')
    expect(way()).toContain('n299')
  })

  it('reports that there are no matches, and starts at the first one again for another text', async () => {
    await renderInApp(<JsonExplorer value={value} label="debug data" />)
    fireEvent.change(search(), { target: { value: 'nowhere' } })
    await screen.findByText('No hits')
    fireEvent.change(search(), { target: { value: 'n12' } })
    await screen.findByText('1 of 11 hits')
    expect(current()).toContain('n12')
  })

  it('starts at a pointer, and also shows values that are not objects', async () => {
    const { unmount } = await renderInApp(
      <JsonExplorer value={value} label="debug data" at="/rows/250/name" />,
    )
    expect(current()).toContain('n250')
    unmount()
    await renderInApp(<JsonExplorer value="text" label="debug data" />)
    expect(screen.getAllByRole('treeitem').at(-1)?.textContent).toBe('"text"')
  })

  it('expands and collapses all, each time anew', async () => {
    const deep = {
      a: { b: { c: { d: { e: { f: { g: { h: { i: { j: { k: { l: { m: 1 } } } } } } } } } } } },
    }
    await renderInApp(<JsonExplorer value={deep} label="debug data" />)
    const lines = () => screen.getAllByRole('treeitem').length
    const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }))
    for (const _ of ['once', 'again']) {
      press('Expand all')
      expect(lines()).toBe(14)
      fireEvent.click(screen.getByText('a'))
      expect(lines()).toBe(2)
    }
    for (const _ of ['once', 'again']) {
      press('Collapse all')
      expect(lines()).toBe(2)
      fireEvent.click(screen.getByText('a'))
      expect(lines()).toBe(3)
    }
  })

  it('draws a part of 5 MB, shows the total size, and copies all of it', async () => {
    const copied = vi.fn(async (_: string) => {})
    vi.stubGlobal('navigator', { clipboard: { writeText: copied } })
    const large = { rows: Array.from({ length: 50_000 }, (_, i) => ({ i, text: 'x'.repeat(80) })) }
    await renderInApp(<JsonExplorer value={large} label="debug data" />)
    expect(screen.getAllByRole('treeitem').length).toBeLessThan(310)
    expect(screen.getByText('[50,000]')).toBeTruthy()
    expect(screen.getByText('… 49,900 more')).toBeTruthy()
    fireEvent.click(screen.getByRole('button', { name: 'Copy all' }))
    await waitFor(() => expect(copied).toHaveBeenCalled())
    expect(copied.mock.lastCall?.[0] === JSON.stringify(large, null, 2)).toBe(true)
  })
})
