import { findEmbeddedRefs } from '../../src/refs/embedded-refs.ts'
import { measure, printMachine } from './measure.ts'

// References in 1 MB of Markdown beside `indexOf` over the same text, and hostile text beside the ordinary one.
const SIZE = 1_000_000
const sentence =
  'The quick brown fox jumps over the lazy dog, and *nobody* asks [why](https://example.com). '

function ordinary(): string {
  const parts: string[] = []
  for (let i = 0; i < 100; i++) {
    parts.push(sentence.repeat(107))
    parts.push(`\n\n![picture ${i}](<|asset://chart${i}/content/series/0|>)\n\n`)
    if (i % 2 === 0) parts.push('```js\nconst ref = "<|asset://no/content|>"\n```\n\n')
  }
  return parts.join('').padEnd(SIZE, ' ').slice(0, SIZE)
}

const markdown = ordinary()
const hostile = {
  '<| × 500,000': '<|'.repeat(SIZE / 2),
  'half-open references': '<|asset://a'.repeat(SIZE / 11),
  'half-open JSON': '<|{"asset_id":"a"'.repeat(SIZE / 17),
  backticks: '`'.repeat(SIZE),
  'backticks of every length': Array.from({ length: 1400 }, (_, i) => '`'.repeat(i)).join(' '),
  fences: '```\n'.repeat(SIZE / 4),
  backslashes: '\\<|'.repeat(SIZE / 3),
}

function indexOfAll(): number {
  let found = 0
  for (let at = markdown.indexOf('<|'); at >= 0; at = markdown.indexOf('<|', at + 1)) found++
  return found
}

printMachine(`references in ${markdown.length.toLocaleString('en')} characters`)
console.log(`${findEmbeddedRefs(markdown).length} found`)
measure('ordinary Markdown: 100 references, 50 fences', {
  "indexOf('<|')": indexOfAll,
  findEmbeddedRefs: () => findEmbeddedRefs(markdown),
})
measure('hostile text', {
  'the ordinary Markdown': () => findEmbeddedRefs(markdown),
  ...Object.fromEntries(
    Object.entries(hostile).map(([name, text]) => [name, () => findEmbeddedRefs(text)]),
  ),
})
