import { describe, expect, it } from 'vitest'
import { renderEmbeddedRefs } from './render-embedded-refs.ts'

const urlOf = (ref: string): string => ref.replace('asset://', '/files/')
const asset = (ref: string) =>
  ref.includes('chart') ? { name: 'Rain [1]', mime: 'image/png' } : undefined

describe('renderEmbeddedRefs', () => {
  it.each([
    ['a link', '![rain](<|asset://chart7|>)', '![rain](/files/chart7)'],
    ['an object in a link', '[a](<|{"asset_id":"a","field_path":null}|>)', '[a](/files/a)'],
    ['a link with a title', '[a]( <|asset://a|> "b")', '[a]( /files/a "b")'],
    ['a link definition', '[a]: <|asset://a/content/b|>', '[a]: /files/a/content/b'],
    ['an HTML attribute', '<img src="<|asset://a|>">', '<img src="/files/a">'],
    ['an image by itself', 'See <|asset://chart7|>.', 'See ![Rain \\[1\\]](/files/chart7).'],
    ['another asset by itself', 'See <|asset://a|>.', 'See [a](/files/a).'],
    [
      'code',
      '`<|asset://a|>` \\<|asset://a|> <|im_end|>',
      '`<|asset://a|>` \\<|asset://a|> <|im_end|>',
    ],
  ])('renders %s', (_, text, rendered) => {
    expect(renderEmbeddedRefs(text, urlOf, { asset })).toBe(rendered)
  })

  it('prevents a URL from ending a link', () => {
    const rendered = renderEmbeddedRefs('[a](<|asset://a|>)', () => '/x y)(<z>')
    expect(rendered).toBe('[a](/x%20y%29%28%3Cz%3E)')
  })

  it('returns only URLs in text that is not Markdown', () => {
    const text = '`<|asset://a|>`'
    expect(renderEmbeddedRefs(text, urlOf, { markdown: false })).toBe('`/files/a`')
  })

  it('renders the text after a reference in its context', () => {
    const text = '`<|asset://a|>` ![rain]('
    expect(renderEmbeddedRefs(`${text}<|asset://b|>)`, urlOf, { from: text.length })).toBe(
      '/files/b)',
    )
  })
})
