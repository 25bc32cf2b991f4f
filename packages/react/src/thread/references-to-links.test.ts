import { describe, expect, it } from 'vitest'
import { referencesToLinks, variableOf } from './references-to-links.ts'

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

  it('makes a link of a variable, whose address gives the reference back', () => {
    const [, url = ''] =
      /^It is \[\]\(<(.*)>\) now, not †state.total.$/.exec(
        referencesToLinks('It is <|†state["a|b"]|> now, not †state.total.'),
      ) ?? []
    expect(variableOf(url)).toBe('†state["a|b"]')
    expect(variableOf('asset://a1')).toBeNull()
    expect(variableOf('variable:%')).toBeNull()
  })

  it('makes a picture address of a variable that is the target of a picture', () => {
    const [, url = ''] = /^!\[x\]\(<(.*)>\)$/.exec(referencesToLinks('![x](<|†state.y|>)')) ?? []
    expect(variableOf(url)).toBe('†state.y')
  })

  it('leaves code, special tokens and escapes alone', () => {
    for (const text of ['`<|asset://a1|>`', '`<|†state.a|>`', '<|im_start|>', '\\<|asset://a1|>']) {
      expect(referencesToLinks(text)).toBe(text)
    }
  })
})
