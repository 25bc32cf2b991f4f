import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { message, stateOf } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { Debug } from './debug.tsx'
import { ThreadItem } from './thread-item.tsx'
import { timeline } from './timeline.ts'

let asked: string[] = []
let answers: (() => Response | Promise<Response>)[] = []

beforeEach(() => {
  asked = []
  answers = []
  vi.stubGlobal('fetch', async (path: string) => {
    asked.push(path)
    return answers.shift()?.() ?? Response.json({ ok: true })
  })
})

function show() {
  const state = stateOf(
    message({ id: 'a', content_type: 'text/plain', metadata: { has_debug_data: true } }),
  )
  const items = timeline(state).map((item) => <ThreadItem key={item.key} item={item} />)
  return renderInApp([...items, <Debug key="debug" />], { state })
}

/** Clicks the button like a person. */
async function press(): Promise<HTMLElement> {
  const button = screen.getByRole('button', { name: 'Debug' })
  button.focus()
  fireEvent.click(button)
  return screen.findByRole('dialog', { name: 'Debug' })
}

describe('Debug', () => {
  it('sends no request before it is opened, and then one; Escape closes it and restores the focus', async () => {
    answers = [() => Response.json({ request: { model: 'm' } })]
    await show()
    expect(asked).toEqual([])
    const dialog = await press()
    expect(await within(dialog).findByText('"m"')).toBeTruthy()
    fireEvent.keyDown(dialog, { key: 'Escape' })
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Debug' }))
    await within(await press()).findByText('"m"')
    expect(asked).toEqual(['/api/conversations/c1/messages/a/debug'])
  })

  it('shows values that are not objects under `debug`', async () => {
    for (const [value, shown] of [
      ['some text', '"some text"'],
      [0, '0'],
    ] as const) {
      answers = [() => Response.json(value)]
      const { unmount } = await show()
      const tree = await within(await press()).findByRole('tree')
      expect(tree.textContent).toContain('debug')
      expect(tree.textContent).toContain(shown)
      unmount()
    }
    answers = [() => Response.json(['first', 'second'])]
    await show()
    const tree = await within(await press()).findByRole('tree')
    expect(tree.textContent).toMatch(/debug: .*"second"/)
  })

  it('reports that there are none if the URL names no message', async () => {
    const missing = { error: { code: 'message_not_found', message: 'none' } }
    answers = [() => Response.json(missing, { status: 404 })]
    await renderInApp(<Debug />, { state: stateOf(message()), at: '/?debug=#m-%' })
    expect(await screen.findByText(/no debug data for this message/)).toBeTruthy()
  })

  it('reports what is slow, missing or failed, retries, and never shows an empty tree', async () => {
    const slow = Promise.withResolvers<Response>()
    const failed = { error: { code: 'log_failed', message: 'The disk is gone.' } }
    const missing = { error: { code: 'message_not_found', message: 'none' } }
    answers = [
      () => slow.promise,
      () => Response.json(missing, { status: 404 }),
      () => Response.json({ a: 'here' }),
    ]
    await show()
    const dialog = await press()
    await within(dialog).findByRole('status', { name: '' })
    expect(within(dialog).queryByRole('tree')).toBeNull()
    slow.resolve(Response.json(failed, { status: 500 }))
    expect((await within(dialog).findByRole('alert')).textContent).toContain('The disk is gone.')
    fireEvent.click(within(dialog).getByRole('button', { name: 'Retry' }))
    await within(dialog).findByText(/no debug data for this message/)
    expect(within(dialog).queryByRole('tree')).toBeNull()
    fireEvent.click(within(dialog).getByRole('button', { name: 'Retry' }))
    expect(await within(dialog).findByText('"here"')).toBeTruthy()
  })
})
