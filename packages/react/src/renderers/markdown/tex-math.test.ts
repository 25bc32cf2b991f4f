import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import ReactMarkdown from 'react-markdown'
import remarkMath from 'remark-math'
import { describe, expect, it } from 'vitest'
import { texMath } from './tex-math.ts'

/** Returns the formulas of a text, with `inline` or `display`. */
function formulas(text: string): string[] {
  const remarkPlugins = [[remarkMath, { singleDollarTextMath: false }], texMath] as never
  const html = renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins }, text))
  return [...html.matchAll(/<code class="language-math math-(\w+)">(.*?)<\/code>/gs)].map(
    ([, kind, tex]) => `${kind}: ${tex?.trim()}`,
  )
}

describe('texMath', () => {
  it.each([
    ['a $x^2$ b', 'inline: x^2'],
    ['设$x$为', 'inline: x'],
    ['they are $1, 3, 3, 1$', 'inline: 1, 3, 3, 1'],
    ['the $n$th', 'inline: n'],
    ['($a+b$, $c$)', 'inline: a+b', 'inline: c'],
    ['a $\\$5 + x$ b', 'inline: \\$5 + x'],
    ['a \\(x\\,y\\) b', 'inline: x\\,y'],
    ['a \\(\\{a\\mid b\\}\\) b', 'inline: \\{a\\mid b\\}'],
    ['a \\[\\frac{1}{2}\\] b', 'display: \\frac{1}{2}'],
    ['\\[\nx = 1\n\\]', 'display: x = 1'],
    ['a $$x$$ b', 'display: x'],
    ['$$\nx\n$$', 'display: x'],
    ['- a $x +\n  y$', 'inline: x +\ny'],
    ['| $a$ | \\(b\\) |', 'inline: a', 'inline: b'],
  ])('finds the formulas of %j', (text, ...expected) => {
    expect(formulas(text)).toEqual(expected)
  })

  it.each([
    'It costs $5 and $6.',
    'between $5-$6',
    '$5/month or $10/month',
    'US$5 and US$6',
    '$5 for you and 6$ for me',
    'about $20, or C$ 30',
    'set $HOME/bin:$PATH',
    'a $ b $ c',
    '\\$x\\$',
    '`$x$` and `\\(x\\)`',
    'a \\[not a link\\] b',
    'a \\(see below\\) b',
    'open $x',
    'open \\(x',
    'empty \\(\\)',
  ])('finds none in %j', (text) => {
    expect(formulas(text)).toEqual([])
  })
})
