import { render, screen } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { renderInApp } from '../testing/render-in-app.tsx'
import { InlineValue } from './inline-value.tsx'

const textOf = (value: unknown) => render(<InlineValue value={value} />).container.textContent

describe('InlineValue', () => {
  it('shows characters that are invisible or change the reading order', () => {
    expect(textOf('\u202emoc.live@eve\u202c')).toBe('"⟨U+202E⟩moc.live@eve⟨U+202C⟩"')
    expect(textOf('bob\u200b@work')).toBe('"bob⟨U+200B⟩@work"')
    expect(textOf('a\u009b\u{e0041}')).toBe('"a⟨U+9B⟩⟨U+E0041⟩"')
  })

  it('does not change words of any language', () => {
    const text = 'שלום 👩\u200d🚀\n\tnaïve'
    expect(textOf(text)).toBe(`"${text}"`)
  })

  it('shows a reference within a text as a chip', async () => {
    await renderInApp(<InlineValue value={'<b>\u202e<|asset://a1|></b>'} />)
    expect(screen.getByRole('link').textContent).toBe('asset://a1')
    const text = screen.getByTestId('app').textContent
    expect(text).toBe('"<b>⟨U+202E⟩<|asset://a1|></b>"')
  })
})
