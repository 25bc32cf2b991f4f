import { describe, expect, it } from 'vitest'
import { referencesToLinks } from './references-to-links.ts'

describe('referencesToLinks', () => {
  it('makes a picture address of a reference that is the target of a picture', () => {
    expect(referencesToLinks('![bars](<|asset://a1/content|>) and')).toBe(
      '![bars](<asset://a1/content>) and',
    )
  })

  it('makes a link of a reference that stands alone, in the object form too', () => {
    expect(referencesToLinks('see <|asset://a1|>.')).toBe('see [](<asset://a1>).')
    expect(referencesToLinks('<|{"asset_id":"a1","field_path":["content","a b"]}|>')).toBe(
      '[](<asset://a1/content/a%20b>)',
    )
  })

  it('makes code of a variable, with its marks', () => {
    expect(referencesToLinks('It is <|†state.total|> now, not †state.total.')).toBe(
      'It is `` <|†state.total|> `` now, not †state.total.',
    )
  })

  it('leaves code, special tokens and escapes alone', () => {
    for (const text of ['`<|asset://a1|>`', '<|im_start|>', '\\<|asset://a1|>']) {
      expect(referencesToLinks(text)).toBe(text)
    }
  })
})
