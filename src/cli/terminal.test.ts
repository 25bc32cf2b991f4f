import { describe, expect, it } from 'vitest'
import { shown } from './terminal.ts'

describe('shown', () => {
  it('writes out what a terminal would obey or hide', () => {
    expect(shown('\u001b[2K\rpay 1')).toBe('\\u{1b}[2K\\u{d}pay 1')
    expect(shown('\u009b31m')).toBe('\\u{9b}31m')
    expect(shown('to: \u202egro.live\u202c')).toBe('to: \\u{202e}gro.live\\u{202c}')
    expect(shown('a\u200bb\u2028c\ud800')).toBe('a\\u{200b}b\\u{2028}c\\u{d800}')
  })

  it('leaves words of any language, lines and tabs as they are', () => {
    const text = 'naïve 日本語 שלום 👩\u200d🚀\r\n\tnext'
    expect(shown(text)).toBe(text)
  })
})
