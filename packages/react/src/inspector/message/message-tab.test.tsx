import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { message, stateOf } from '../../testing/messages.ts'
import { renderInApp } from '../../testing/render-in-app.tsx'
import { client } from '../../testing/server.ts'
import { MessageTab } from './message-tab.tsx'

const state = stateOf(
  message({ id: 'a', metadata: { has_debug_data: true, mood: 'calm', 'x-trace': [1] } }),
  message({ id: 'b', metadata: { has_debug_data: true } }),
)

const tree = () => screen.getByRole('tree', { name: 'message' }).textContent

afterEach(() => vi.restoreAllMocks())

describe('MessageTab', () => {
  it('shows the exact message that the URL names, and which metadata have no meaning', async () => {
    await renderInApp(<MessageTab />, { state, at: '/?message=a&path=/metadata/x-trace/0' })
    expect(tree()).toContain('mood: "calm"')
    expect(screen.getByRole('treeitem', { current: true }).textContent).toContain('0: 1')
    expect(screen.getByText('x-trace', { selector: 'li' })).toBeTruthy()
    expect(screen.queryByText('has_debug_data', { selector: 'li' })).toBeNull()
  })

  it('names no metadata that byref uses', async () => {
    const metadata = { answer_parts: [{ type: 'call' }], answer_sources: [{ title: 'A book' }] }
    await renderInApp(<MessageTab />, { state: stateOf(message({ metadata })) })
    expect(screen.queryByText(/does not use/)).toBeNull()
  })

  it('shows the message of the hash, else the last one, or the one that is chosen', async () => {
    const { unmount } = await renderInApp(<MessageTab />, { state, at: '/#m-a' })
    expect(tree()).toContain('id: "a"')
    unmount()
    const broken = await renderInApp(<MessageTab />, { state, at: '/#m-%' })
    expect(tree()).toContain('id: "b"')
    broken.unmount()
    await renderInApp(<MessageTab />, { state })
    expect(tree()).toContain('id: "b"')
    fireEvent.change(screen.getByRole('combobox', { name: 'Message' }), { target: { value: 'a' } })
    await waitFor(() => expect(tree()).toContain('id: "a"'))
  })

  it('loads debug data on request, and shows the differences from another message', async () => {
    const debug = vi.spyOn(client, 'debug').mockImplementation(async (_, id) => ({
      same: 1,
      model: `model ${id}`,
      ...(id === 'a' ? { gone: true } : { added: [1] }),
    }))
    await renderInApp(<MessageTab />, { state })
    expect(debug).not.toHaveBeenCalled()
    fireEvent.click(screen.getByRole('button', { name: 'Show debug data' }))
    const select = await screen.findByLabelText('Compare with')
    fireEvent.change(select, { target: { value: 'a' } })
    const list = await screen.findByRole('list', { name: 'Differences' })
    const lines = within(list)
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent)
    expect(lines).toHaveLength(3)
    expect(lines.join('\n')).toContain('/model− "model a"+ "model b"')
    expect(lines.join('\n')).toContain('/gone− true')
    expect(lines.join('\n')).toContain('/added+ [1]')
  })

  it('reports that the other message no longer has any', async () => {
    vi.spyOn(client, 'debug').mockImplementation(async (_, id) => (id === 'a' ? null : { x: 1 }))
    await renderInApp(<MessageTab />, { state })
    fireEvent.click(screen.getByRole('button', { name: 'Show debug data' }))
    const select = await screen.findByLabelText('Compare with')
    fireEvent.change(select, { target: { value: 'a' } })
    await screen.findByText('The other message no longer has debug data.')
  })

  it('labels messages by their beginning, and objects by their keys', async () => {
    const content = { rows: [1], at: 'here' }
    const odd = stateOf(message({ content }), message({ content: 'x'.repeat(90) }))
    await renderInApp(<MessageTab />, { state: odd })
    const options = screen.getAllByRole('option').map(({ textContent }) => textContent)
    expect(options[0]).toMatch(/Bot: \{ rows, at \}$/)
    expect(options[1]).toMatch(/: x{40}$/)
  })

  it('shows no debug data to readers', async () => {
    await renderInApp(<MessageTab />, { state, role: 'reader' })
    expect(screen.queryByRole('button', { name: 'Show debug data' })).toBeNull()
  })
})
