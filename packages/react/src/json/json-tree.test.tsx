import { fireEvent, screen, waitFor } from '@testing-library/react'
import { useState } from 'react'
import { describe, expect, it, vi } from 'vitest'
import { renderInApp } from '../testing/render-in-app.tsx'
import { JsonTree } from './json-tree.tsx'

const lines = () => screen.getAllByRole('treeitem').map(({ textContent }) => textContent?.trim())
const press = (key: string) => fireEvent.keyDown(document.activeElement as Element, { key })

describe('JsonTree', () => {
  it('opens, closes and moves by keyboard', async () => {
    await renderInApp(<JsonTree value={{ a: { b: 1 }, c: 2 }} label="Value" depth={1} />)
    expect(lines()).toHaveLength(3)
    screen.getAllByRole('treeitem')[0]?.focus()
    press('ArrowDown')
    expect(document.activeElement?.textContent).toContain('a:')
    press('ArrowRight')
    expect(lines()).toHaveLength(4)
    press('ArrowRight')
    expect(document.activeElement?.textContent).toContain('b:')
    press('ArrowLeft')
    expect(document.activeElement?.textContent).toContain('a:')
    press('ArrowLeft')
    expect(lines()).toHaveLength(3)
    press('End')
    expect(document.activeElement?.textContent).toContain('c:')
  })

  it('copies the value and the path of the focused line', async () => {
    const copied = vi.fn(async (_: string) => {})
    vi.stubGlobal('navigator', { clipboard: { writeText: copied } })
    await renderInApp(<JsonTree value={{ 'a/b': { c: 'text' } }} label="Value" depth={9} />)
    const copy = async (name: string) => {
      copied.mockClear()
      fireEvent.click(screen.getByRole('button', { name }))
      await waitFor(() => expect(copied).toHaveBeenCalled())
      return copied.mock.lastCall?.[0]
    }
    screen.getAllByRole('treeitem')[0]?.focus()
    press('ArrowDown')
    expect(await copy('Copy value')).toBe('{\n  "c": "text"\n}')
    expect(await copy('Copy path')).toBe('/a~1b')
    screen.getAllByRole('treeitem')[1]?.focus()
    press('ArrowDown')
    expect(await copy('Copy value')).toBe('text')
    expect(await copy('Copy path')).toBe('/a~1b/c')
  })

  it('has exactly one tab stop', async () => {
    await renderInApp(<JsonTree value={{ a: 1, b: 2 }} label="Value" />)
    const reached = screen.getAllByRole('treeitem').filter(({ tabIndex }) => tabIndex === 0)
    expect(reached).toHaveLength(1)
  })

  it('expands the path to the current line', async () => {
    const value = { a: [{ deep: { er: 1 } }], z: 1 }
    await renderInApp(
      <JsonTree value={value} label="Value" depth={1} current={['a', 0, 'deep', 'er']} />,
    )
    expect(lines().some((line) => line?.startsWith('er:'))).toBe(true)
  })

  it('cuts a long text, and shows all of it on request', async () => {
    await renderInApp(<JsonTree value={'x'.repeat(5_000)} label="Value" />)
    fireEvent.click(screen.getByRole('button', { name: '5,000 characters' }))
    expect(lines()[0]).toContain('x'.repeat(5_000))
  })

  it('draws a part of many lines, around the current one', async () => {
    const value = Array.from({ length: 50 }, (_, i) => Array.from({ length: 50 }, () => i))
    const { unmount } = await renderInApp(<JsonTree value={value} label="Value" depth={9} />)
    expect(lines()).toHaveLength(300)
    fireEvent.click(screen.getByRole('button', { name: /more lines/ }))
    expect(lines()).toHaveLength(600)
    unmount()
    await renderInApp(<JsonTree value={value} label="Value" depth={9} current={[40, 7]} />)
    expect(screen.getByRole('treeitem', { current: true }).textContent).toContain('7: 40')
  })

  it('lets a person collapse the path, and expands only the path of another line', async () => {
    const seen = vi.spyOn(Element.prototype, 'scrollIntoView')
    const value = { a: { b: { c: 1 } }, z: { y: 2 } }
    const path = ['a', 'b', 'c']
    await renderInApp(<JsonTree value={value} label="Value" depth={1} current={path} />)
    expect(lines()).toHaveLength(5)
    expect(seen).toHaveBeenCalledTimes(1)
    fireEvent.click(screen.getByText('z'))
    expect(lines()).toHaveLength(6)
    fireEvent.click(screen.getByText('a'))
    expect(lines()).toHaveLength(4)
    expect(seen).toHaveBeenCalledTimes(1)
  })

  it('shows the remaining lines when there are far fewer than before', async () => {
    const many = Array.from({ length: 50 }, (_, i) => Array.from({ length: 50 }, () => i))
    function Changing() {
      const [value, setValue] = useState<unknown>(many)
      return (
        <>
          <button type="button" onClick={() => setValue(['left'])}>
            Less
          </button>
          <JsonTree value={value} label="Value" depth={9} current={PATH} />
        </>
      )
    }
    await renderInApp(<Changing />)
    expect(screen.getByRole('treeitem', { current: true }).textContent).toContain('7: 40')
    fireEvent.click(screen.getByRole('button', { name: 'Less' }))
    expect(lines()).toEqual(['[1]', '0: "left"'])
  })
})

const PATH = [40, 7]
