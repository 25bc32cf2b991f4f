import { describe, expect, it } from 'vitest'
import { referencesToLinks, variableOf } from './references-to-links.ts'

describe('referencesToLinks', () => {
  it('converts a reference that is the target of an image to an image URL', () => {
    expect(referencesToLinks('![bars](<|asset://a1/content|>) and')).toBe(
      '![bars](<asset://a1/content>) and',
    )
  })

  it('converts a separate reference to a link, also in the object form', () => {
    expect(referencesToLinks('see <|asset://a1|>.')).toBe('see [](<asset://a1>).')
    expect(referencesToLinks('<|{"asset_id":"a1","field_path":["content","a b"]}|>')).toBe(
      '[](<asset://a1/content/a%20b>)',
    )
  })

  it('converts a variable to a link from which the reference can be restored', () => {
    const [, url = ''] =
      /^It is \[\]\(<(.*)>\) now, not †state.total.$/.exec(
        referencesToLinks('It is <|†state["a|b"]|> now, not †state.total.'),
      ) ?? []
    expect(variableOf(url)).toBe('†state["a|b"]')
    expect(variableOf('asset://a1')).toBeNull()
    expect(variableOf('variable:%')).toBeNull()
  })

  it('converts a variable that is the target of an image to an image URL', () => {
    const [, url = ''] = /^!\[x\]\(<(.*)>\)$/.exec(referencesToLinks('![x](<|†state.y|>)')) ?? []
    expect(variableOf(url)).toBe('†state.y')
  })

  it('does not change code, special tokens and escapes', () => {
    for (const text of ['`<|asset://a1|>`', '`<|†state.a|>`', '<|im_start|>', '\\<|asset://a1|>']) {
      expect(referencesToLinks(text)).toBe(text)
    }
  })
})
