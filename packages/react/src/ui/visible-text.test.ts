import { describe, expect, it } from 'vitest'
import { visibleText } from './visible-text.ts'

describe('visibleText', () => {
  it('shows characters that are invisible or change the reading order', () => {
    expect(visibleText('invoice\u202efdp.exe')).toBe('invoice⟨U+202E⟩fdp.exe')
    expect(visibleText('bob\u200b@work')).toBe('bob⟨U+200B⟩@work')
    expect(visibleText('bob\u200f@work')).toBe('bob⟨U+200F⟩@work')
  })

  it('does not change words of any language', () => {
    for (const text of ['שלום\u200f 1.pdf', '👩\u200d🚀\n\tnaïve', 'می\u200cخواهم']) {
      expect(visibleText(text)).toBe(text)
    }
  })
})
