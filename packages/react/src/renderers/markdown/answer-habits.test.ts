import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import ReactMarkdown from 'react-markdown'
import { describe, expect, it } from 'vitest'
import { directions, lineBreaks } from './answer-habits.ts'

const html = (text: string, plugins: object) =>
  renderToStaticMarkup(createElement(ReactMarkdown, plugins, text)).replaceAll('\n', '')

describe('lineBreaks', () => {
  it('converts <br> to a line break, and omits other HTML', () => {
    const plugins = { remarkPlugins: [lineBreaks], skipHtml: true }
    expect(html('a<br>b<br />c<b>d</b>', plugins)).toBe('<p>a<br/>b<br/>cd</p>')
  })
})

describe('directions', () => {
  it('sets the text direction of top-level blocks, and not of what is inside them', () => {
    expect(html('- a\n- b\n\n> c', { rehypePlugins: [directions] })).toBe(
      '<ul dir="auto"><li>a</li><li>b</li></ul><blockquote dir="auto"><p>c</p></blockquote>',
    )
  })
})
