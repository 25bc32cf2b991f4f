import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTextPage, type TextPage } from './text-page.ts'

async function pagesOf(chunks: string[], size: number): Promise<TextPage[]> {
  const pages: TextPage[] = []
  let range = {}
  for (;;) {
    const page = await readTextPage(chunks, range, size)
    pages.push(page)
    if (page.nextStartLine === undefined) return pages
    range = { startLine: page.nextStartLine, startColumn: page.nextStartColumn }
  }
}

describe('readTextPage', () => {
  it('ends a page with a whole line, and counts all lines', async () => {
    const lines = 'one\ntwo\nthree\nfour'
    expect(await readTextPage([lines], {}, 9)).toEqual({
      text: 'one\ntwo',
      startLine: 1,
      endLine: 2,
      lines: 4,
      nextStartLine: 3,
    })
    expect(await readTextPage([lines], { startLine: 2, endLine: 3 }, 100)).toEqual({
      text: 'two\nthree',
      startLine: 2,
      endLine: 3,
      lines: 4,
    })
    await expect(readTextPage([lines], { startLine: 9 }, 100)).rejects.toThrow(
      'There is no line 9: the text has 4 lines.',
    )
  })

  it('goes on within a line that is longer than a page', async () => {
    const [first, second, third] = await pagesOf([`${'a'.repeat(5)}${'b'.repeat(5)}c\nd`], 5)
    expect(first).toMatchObject({ text: 'aaaaa', nextStartLine: 1, nextStartColumn: 6 })
    expect(second).toMatchObject({ text: 'bbbbb', nextStartLine: 1, nextStartColumn: 11 })
    expect(third).toEqual({ text: 'c\nd', startLine: 1, endLine: 2, lines: 2 })
    expect((await readTextPage(['ab😀'], {}, 3)).text).toBe('ab')
  })

  it('shows an empty line if it starts after the end of a line', async () => {
    const range = { startLine: 1, startColumn: 10 }
    const page = { text: '\ncd', startLine: 1, endLine: 2, lines: 2 }
    expect(await readTextPage(['ab\ncd'], range, 100)).toEqual(page)
    expect(await readTextPage(['a', 'b\n', 'cd'], range, 100)).toEqual(page)
  })

  it('shows every character once, whatever the pages and the chunks', async () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '😀', 'é'), maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(fc.array(piece), fc.integer({ min: 2, max: 9 }), async (chunks, size) => {
        const text = chunks.join('')
        const pages = await pagesOf(chunks, size)
        let read = ''
        for (const { text: shown, nextStartLine, nextStartColumn } of pages) {
          expect(shown.length).toBeLessThanOrEqual(size)
          read += shown
          if (nextStartLine !== undefined && nextStartColumn === undefined) read += '\n'
        }
        expect(read).toBe(text)
        expect(pages[0]?.lines).toBe(text.split('\n').length)
      }),
    )
  })
})
