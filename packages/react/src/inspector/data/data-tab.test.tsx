import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ServerContext } from '../../app/server.ts'
import { message, stateOf } from '../../testing/messages.ts'
import { renderInApp } from '../../testing/render-in-app.tsx'
import { client, server } from '../../testing/server.ts'
import { Modal } from '../../ui/modal.tsx'
import { DataEdit } from './data-edit.tsx'
import type { DataEntry } from './data-entries.ts'
import { DataTab } from './data-tab.tsx'

const write = (id: string, content: object) =>
  message({ id, content_type: 'data', content: { type: 'data', kind: 'state', ...content } })

const state = stateOf(
  write('w1', { data: { total: 1 }, schema: { type: 'object' } }),
  message({ content: 'between' }),
  write('w2', { data: { total: 2 } }),
  write('w3', { kind: 'user', _instance: 'a', data: { name: 'Ann' } }),
)

const shownOf = (reference: string) =>
  screen.getByRole('tree', { name: `Value of ${reference}` }).textContent

afterEach(() => vi.restoreAllMocks())

describe('DataTab', () => {
  it('goes back through all writes: values as they were, or not there yet', async () => {
    await renderInApp(<DataTab />, { state, role: 'reader' })
    expect(shownOf('†state')).toContain('total: 2')
    const slider = screen.getByRole('slider')
    fireEvent.change(slider, { target: { value: '0' } })
    await waitFor(() => expect(shownOf('†state')).toContain('total: 1'))
    expect(screen.queryByRole('article', { name: '†user#a' })).toBeNull()
    expect(slider.getAttribute('aria-valuetext')).toBe('After change 1 of 3, merged †state')
    fireEvent.click(screen.getByRole('button', { name: 'Latest' }))
    await waitFor(() => expect(shownOf('†user#a')).toContain('name: "Ann"'))
  })

  it('shows the board after the write that the URL names', async () => {
    await renderInApp(<DataTab />, { state, at: '/?at=w1', role: 'reader' })
    expect(shownOf('†state')).toContain('total: 1')
  })

  it('lists the writes to a value, with links to the board after each', async () => {
    await renderInApp(<DataTab />, { state, role: 'reader' })
    const card = within(screen.getByRole('article', { name: '†state' }))
    fireEvent.click(card.getAllByTitle('Show the value after this change').at(-1) as HTMLElement)
    await waitFor(() => expect(shownOf('†state')).toContain('total: 1'))
  })

  it('warns if an agent writes the value that a person is editing', async () => {
    const { rerender } = await renderInApp(null)
    const entry = { identity: 'state', kind: 'state', instance: null } as DataEntry
    const show = (total: number) => <DataEdit entry={entry} value={{ total }} onClose={() => {}} />
    const page = (part: ReactNode) => <ServerContext value={server}>{part}</ServerContext>
    rerender(page(show(1)))
    expect(screen.queryByText(/changed since/)).toBeNull()
    rerender(page(show(2)))
    expect(screen.getByText(/changed since/)).toBeTruthy()
    expect(screen.getByRole('textbox')).toHaveProperty('value', '{\n  "total": 1\n}')
  })

  it('lets a member write a value, and reports what is wrong with it', async () => {
    const edit = vi.spyOn(client, 'editData').mockRejectedValueOnce(new Error('must be a number'))
    await renderInApp(<DataTab />, { state, role: 'member' })
    fireEvent.click(await screen.findByRole('button', { name: 'Edit †user#a' }))
    const field = () => screen.getByLabelText('Value as JSON')
    const save = () => fireEvent.click(screen.getByRole('button', { name: 'Save' }))
    fireEvent.change(field(), { target: { value: '{' } })
    save()
    await screen.findByText(/This is not valid JSON/)
    expect(edit).not.toHaveBeenCalled()
    fireEvent.change(field(), { target: { value: '{ "name": 1 }' } })
    save()
    await screen.findByText(/must be a number/)
    edit.mockResolvedValue({ messageId: 'w4' })
    save()
    await waitFor(() => expect(screen.queryByLabelText('Value as JSON')).toBeNull())
    const wanted = { kind: 'user', _instance: 'a', data: { name: 1 }, _outputMethod: 'set' }
    expect(edit).toHaveBeenLastCalledWith('c1', wanted)
  })

  it('restores the focus on Escape, which does not close the drawer around it', async () => {
    const close = vi.fn()
    const drawer = (
      <Modal title="Inspector" onClose={close}>
        <DataTab />
      </Modal>
    )
    await renderInApp(drawer, { state, role: 'member' })
    fireEvent.click(await screen.findByRole('button', { name: 'Edit †state' }))
    fireEvent.keyDown(screen.getByLabelText('Value as JSON'), { key: 'Escape' })
    expect(screen.queryByLabelText('Value as JSON')).toBeNull()
    const edit = screen.getByRole('button', { name: 'Edit †state' })
    expect(document.activeElement).toBe(edit)
    expect(close).not.toHaveBeenCalled()
    fireEvent.keyDown(edit, { key: 'Escape' })
    expect(close).toHaveBeenCalledTimes(1)
  })

  it('writes once, however often it is submitted', async () => {
    const edit = vi.spyOn(client, 'editData').mockReturnValue(new Promise(() => {}))
    await renderInApp(<DataTab />, { state, role: 'member' })
    fireEvent.click(await screen.findByRole('button', { name: 'Edit †state' }))
    for (const _ of ['once', 'again']) {
      fireEvent.keyDown(screen.getByLabelText('Value as JSON'), { key: 'Enter', ctrlKey: true })
    }
    expect(edit).toHaveBeenCalledTimes(1)
  })

  it('does not let readers edit', async () => {
    await renderInApp(<DataTab />, { state, role: 'reader' })
    expect(screen.queryAllByRole('button', { name: /^Edit/ })).toEqual([])
  })
})
