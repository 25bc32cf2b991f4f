// node bench/content/embedded-refs.ts: finds references in a megabyte of Markdown, beside indexOf over it.
import { findEmbeddedRefs } from '../../src/core/refs/embedded-refs.ts'
import { measure, printMachine } from './measure.ts'

const SENTENCE = 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor. '

/** A megabyte of Markdown with 100 references, 50 fences (each with one more reference) and code spans. */
function markdown(filler: string): string {
  const parts: string[] = []
  for (let size = 0, i = 0; size < 1_000_000; i++) {
    const paragraph = `${SENTENCE.repeat(6)}${filler}\n\n`
    parts.push(paragraph)
    size += paragraph.length
    if (i % 5 === 0) parts.push(`See \`code\` in ${SENTENCE}\n\n`)
    if (i % 20 === 0) parts.push(`${SENTENCE}![chart](<|asset://chart${i}/content/series/0|>)\n\n`)
    if (i % 40 === 1)
      parts.push(`\`\`\`js\nconst a = '<|asset://no/content|>'\n${SENTENCE}\n\`\`\`\n\n`)
  }
  // One flat string, as it comes from a file or the network.
  return JSON.parse(JSON.stringify(parts.join('')))
}

function countMarks(text: string): number {
  let count = 0
  for (let at = text.indexOf('<|'); at !== -1; at = text.indexOf('<|', at + 2)) count++
  return count
}

printMachine('embedded references')
for (const [title, filler] of [
  ['Latin-1 text', ''],
  ['text with other letters', 'π'],
] as const) {
  const text = markdown(filler)
  const found = findEmbeddedRefs(text).length
  measure(
    `${title}: ${text.length} characters, ${found} references, ${countMarks(text)} marks`,
    {
      "indexOf('<|')": () => countMarks(text),
      ours: () => findEmbeddedRefs(text),
      'ours, not as Markdown': () => findEmbeddedRefs(text, { markdown: false }),
    },
    { rounds: 100, calls: 10 },
  )
}

const ordinary = markdown('')
measure(
  'hostile megabytes beside the ordinary one',
  {
    'the ordinary one': () => findEmbeddedRefs(ordinary),
    "'<|' × 500,000": hostile('<|'.repeat(500_000)),
    "'<|' × 500,000 and one '|>'": hostile(`${'<|'.repeat(500_000)}|>`),
    "'<|asset://' × 100,000, '|>'": hostile(`${'<|asset://'.repeat(100_000)}|>`),
    "'<|{\"' × 250,000": hostile('<|{"'.repeat(250_000)),
    "'`a``b' × 160,000, a reference": hostile(`${'`a``b'.repeat(160_000)}<|asset://a|>`),
    "'```\\n' × 250,000, a reference": hostile(`${'```\n'.repeat(250_000)}<|asset://a|>`),
  },
  { rounds: 20 },
)

function hostile(text: string): () => unknown {
  return () => findEmbeddedRefs(text)
}
