import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { type AssetInfo, flatten, type RowsPage } from 'byref/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { renderInApp } from '../../testing/render-in-app.tsx'
import { client } from '../../testing/server.ts'
import { readTable, type TableSample } from './read-table.ts'
import { TablePreview } from './table-preview.tsx'

const asset = { assetId: 'a', ref: 'asset://a' } as AssetInfo

function sample(columns: readonly string[], total: number): TableSample {
  return {
    columns: columns.map((name) => ({
      name,
      type: name === 'n' ? 'integer' : 'string',
      missing: 0,
    })),
    rows: [{ n: 0, city: 'first' }],
    total,
  }
}

/** A server with this many numbered rows. It records requests. */
function rowsOf(total: number) {
  return vi
    .spyOn(client, 'rows')
    .mockImplementation(async (_, { offset = 0, limit = 0, sort } = {}) => {
      const at = (index: number) => (sort?.startsWith('-') ? total - 1 - index : index)
      const count = Math.max(0, Math.min(limit, total - offset))
      const rows = Array.from({ length: count }, (_, i) => ({ n: at(offset + i), city: `c${i}` }))
      const end = offset + count
      return { rows, total, offset, next: end < total ? end : null, columns: [] } satisfies RowsPage
    })
}

const firstCell = () => within(screen.getAllByRole('row')[1] as HTMLElement).getAllByRole('cell')[0]
const scrollTo = (top: number) => {
  const scroller = screen.getByRole('table').closest('.overflow-auto') as HTMLElement
  scroller.scrollTop = top
  fireEvent.scroll(scroller)
}

afterEach(() => vi.restoreAllMocks())

describe('TablePreview', () => {
  it('explains why a column of dates stays text', async () => {
    rowsOf(2)
    const table = sample(['n', 'city'], 2)
    const warning = 'stays text: its dates can begin with the day or the month'
    for (const column of table.columns) if (column.name === 'city') column.warning = warning
    await renderInApp(<TablePreview table={table} asset={asset} />)
    expect(await screen.findByTitle(`city: ${warning}`)).toBeDefined()
    expect(screen.getByRole('img', { name: warning })).toBeDefined()
  })

  it('draws the visible rows of millions, and loads rows as they become visible', async () => {
    const asked = rowsOf(4_000_000)
    await renderInApp(<TablePreview table={sample(['n', 'city'], 4_000_000)} asset={asset} />)
    await screen.findByText('c1')
    expect(screen.getAllByRole('row').length).toBeLessThan(60)
    scrollTo(4_000_000)
    await waitFor(() => expect(Number(firstCell()?.textContent)).toBeGreaterThan(1_900_000))
    expect(asked.mock.calls.length).toBeLessThan(6)
    expect(screen.getByRole('status').textContent).toContain('4,000,000 rows')
  })

  it('sorts by a column, in reverse, and not at all', async () => {
    const asked = rowsOf(1_000)
    await renderInApp(<TablePreview table={sample(['n', 'city'], 1_000)} asset={asset} />)
    const head = () => screen.getByRole('columnheader', { name: /^n/ })
    const press = () => fireEvent.click(within(head()).getByRole('button'))
    for (const [order, sort, first] of [
      ['ascending', 'n', '0'],
      ['descending', '-n', '999'],
      ['none', undefined, '0'],
    ] as const) {
      press()
      expect(head().getAttribute('aria-sort')).toBe(order)
      await waitFor(() => expect(firstCell()?.textContent).toBe(first))
      if (sort) expect(asked.mock.lastCall?.[1]).toMatchObject({ sort })
    }
  })

  it('scrolls to the head of a column that the keyboard reaches', async () => {
    rowsOf(3)
    const scrolled = vi.spyOn(Element.prototype, 'scrollIntoView')
    await renderInApp(<TablePreview table={sample(['n', 'city'], 3)} asset={asset} />)
    const head = within(screen.getByRole('columnheader', { name: /^city/ })).getByRole('button')
    // jsdom does not know which elements show their focus.
    vi.spyOn(head, 'matches').mockImplementation((selector) => selector === ':focus-visible')
    head.focus()
    expect(scrolled).toHaveBeenCalledWith({ block: 'nearest', inline: 'nearest' })
  })

  it("filters by conditions, with values of the column's type", async () => {
    const asked = rowsOf(10)
    await renderInApp(<TablePreview table={sample(['n', 'city'], 10)} asset={asset} />)
    fireEvent.click(screen.getByRole('button', { name: 'Filter' }))
    fireEvent.change(screen.getByLabelText('Comparison'), { target: { value: 'more' } })
    fireEvent.change(screen.getByLabelText('Value'), { target: { value: '7' } })
    fireEvent.click(screen.getByRole('button', { name: 'Add' }))
    const wanted = { where: [{ column: 'n', is: 'more', to: 7 }] }
    await waitFor(() => expect(asked.mock.lastCall?.[1]).toMatchObject(wanted))
    fireEvent.change(screen.getByLabelText('Value'), { target: { value: '7' } })
    fireEvent.click(screen.getByRole('button', { name: 'Add' }))
    const conditions = within(screen.getByRole('list', { name: 'Conditions' }))
    expect(conditions.getAllByRole('listitem')).toHaveLength(1)
    fireEvent.click(screen.getByRole('button', { name: 'Remove the condition on n' }))
    await waitFor(() => expect(screen.queryByRole('list', { name: 'Conditions' })).toBeNull())
  })

  it('shows columns of a wide table that its meta does not name', async () => {
    const names = Array.from({ length: 120 }, (_, i) => `col${i}`)
    const asked = rowsOf(3).mockImplementation(async (_, { columns = names } = {}) => {
      const typed = columns.map((name) => ({ name, type: 'string' }))
      const row = Object.fromEntries(columns.map((name) => [name, `in ${name}`]))
      return { rows: [row], total: 1, offset: 0, next: null, columns: typed }
    })
    const meta = flatten({
      content: { columns: names.slice(0, 100).map((name) => ({ name })), rows: [] },
    })
    const table = readTable({ ...meta, 'content/columns/100': '<cut from 120 items>' })
    if (!table) throw new Error('The meta is not that of a table.')
    await renderInApp(<TablePreview table={{ ...table, total: 1 }} asset={asset} />)
    expect(await screen.findByText(/columns 1–50 of 120/)).toBeTruthy()
    fireEvent.click(screen.getByRole('button', { name: 'Columns after' }))
    fireEvent.click(screen.getByRole('button', { name: 'Columns after' }))
    expect(await screen.findByText('in col119')).toBeTruthy()
    expect(asked.mock.lastCall?.[1]?.columns).toHaveLength(20)
  })

  it('shows many columns in parts', async () => {
    const asked = rowsOf(3)
    const names = Array.from({ length: 120 }, (_, i) => `col${i}`)
    await renderInApp(<TablePreview table={sample(names, 3)} asset={asset} />)
    expect(screen.getAllByRole('columnheader')).toHaveLength(51)
    fireEvent.click(screen.getByRole('button', { name: 'Columns after' }))
    await waitFor(() => expect(asked.mock.lastCall?.[1]?.columns?.[0]).toBe('col50'))
    expect(screen.getByText(/columns 51–100 of 120/)).toBeTruthy()
  })

  it('shows why rows cannot be loaded, and retries', async () => {
    const asked = vi.spyOn(client, 'rows').mockRejectedValue(new Error('gone'))
    await renderInApp(<TablePreview table={sample(['n', 'city'], 10)} asset={asset} />)
    fireEvent.click(await screen.findByRole('button', { name: 'Retry' }))
    expect(asked.mock.calls.length).toBeGreaterThan(1)
  })

  it.each([
    { sql: true, role: 'member' as const, there: true },
    { sql: true, role: 'reader' as const, there: false },
    { sql: false, role: 'owner' as const, there: false },
  ])('offers SQL if it is available and allowed: %o', async ({ sql, role, there }) => {
    rowsOf(3)
    const table = <TablePreview table={sample(['n', 'city'], 3)} asset={asset} />
    await renderInApp(table, { sql, role })
    await screen.findByText('c2')
    expect(screen.queryByRole('button', { name: 'SQL' }) !== null).toBe(there)
  })

  it('queries by SQL, and links to the result or shows the error', async () => {
    rowsOf(3)
    const query = vi.spyOn(client, 'query').mockRejectedValueOnce(new Error('no such column'))
    const table = <TablePreview table={sample(['n', 'city'], 3)} asset={asset} />
    await renderInApp(table, { sql: true })
    fireEvent.click(await screen.findByRole('button', { name: 'SQL' }))
    fireEvent.click(await screen.findByRole('button', { name: 'Run' }))
    await screen.findByText(/no such column/)
    query.mockResolvedValue({ assetId: 'b', table: { rows: 1 } } as never)
    fireEvent.click(screen.getByRole('button', { name: 'Run' }))
    const link = await screen.findByRole('link', { name: 'open the result' })
    expect(link.getAttribute('href')).toBe('/assets/b')
    expect(query.mock.lastCall?.[0]).toMatchObject({ tables: { t: 'asset://a' } })
  })
})
