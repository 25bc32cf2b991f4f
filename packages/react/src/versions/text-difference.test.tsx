import { fireEvent, render, screen } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { ComparedTexts } from './text-difference.tsx'

const lines = Array.from({ length: 1_000 }, (_, at) => `line ${at + 1}`)
const text = (of: readonly string[]) => of.join('\n')

const texts = (role: string) => screen.queryAllByRole(role).map(({ textContent }) => textContent)

describe('ComparedTexts', () => {
  it('shows a change with its signs, its words and the lines around it', () => {
    const after = lines.toSpliced(500, 1, 'line 501 is new')
    const { container } = render(<ComparedTexts before={text(lines)} after={text(after)} />)
    expect(screen.getByRole('status').textContent).toBe('+1 −1 lines')
    expect(texts('deletion')).toEqual(['line 501'])
    expect(texts('insertion')).toEqual(['line 501 is new'])
    expect(container.querySelector('strong')?.textContent).toBe(' is new')
    expect(container.textContent).toContain('−line 501')
    expect(container.textContent).toContain('+line 501 is new')
    expect(screen.getAllByText('line 498')).toHaveLength(2)
    expect(screen.queryByText('line 497')).toBeNull()
  })

  it('unfolds unchanged lines in parts, by a button', () => {
    const after = lines.with(999, 'the end')
    render(<ComparedTexts before={text(lines)} after={text(after)} />)
    fireEvent.click(
      screen.getByRole('button', { name: 'Show 200 of 996 unchanged lines from line 1' }),
    )
    expect(screen.getAllByText('line 200')).toHaveLength(2)
    expect(screen.queryByText('line 201')).toBeNull()
    expect(screen.getByRole('button').textContent).toBe(
      'Show 200 of 796 unchanged lines from line 201',
    )
  })

  it('shows a changed line ending, and no other', () => {
    render(<ComparedTexts before={'a\r\nb\r\n'} after={'a\nB\r\n'} />)
    expect(texts('deletion')).toEqual(['a␍', 'b'])
    expect(texts('insertion')).toEqual(['a', 'B'])
  })

  it('cuts the unchanged part of a long line', () => {
    const part = '{"rain":1},'.repeat(1_000)
    render(<ComparedTexts before={`${part}1`} after={`${part}2`} />)
    expect(texts('insertion')[0]).toMatch(/^\{"rain":1\},.* … 10,600 characters … .*,2$/)
  })

  it('draws many changed lines in parts', () => {
    const after = lines.map((line) => `new ${line}`)
    render(<ComparedTexts before={text(lines)} after={text(after)} />)
    expect(texts('insertion')).toHaveLength(400)
    fireEvent.click(screen.getByRole('button', { name: '… 600 more changed lines' }))
    expect(texts('insertion')).toHaveLength(800)
  })

  it('draws many places in parts', () => {
    const after = lines.map((line, at) => (at % 2 === 0 ? `new ${line}` : line))
    render(<ComparedTexts before={text(lines)} after={text(after)} />)
    expect(texts('insertion')).toHaveLength(400)
    expect(screen.getByRole('button', { name: '… 100 more changed lines' })).toBeTruthy()
  })

  it('reports that nothing is different', () => {
    render(<ComparedTexts before="a" after="a" />)
    expect(screen.getByRole('status').textContent).toBe('Both versions have the same text.')
  })
})
