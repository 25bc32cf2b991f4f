import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

// Finds text that is probably hard to read: long sentences, long lines, words that the glossary replaces, and terms
// that a page uses before it explains them. It cannot judge whether a short sentence is clear, or whether a comment
// is true. It splits sentences at full stops, colons and semicolons, and ignores code and link targets.

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Maximum number of words of a sentence. */
const MOST_WORDS = 30

/** Maximum length of a line of Markdown. */
const MOST_COLUMNS = 120

const PAGES = globSync(
  '{*.md,docs/**/*.md,bench/README.md,packages/*/*.md,packages/*/templates/*/*.md}',
  {
    cwd: root,
    exclude: ['**/node_modules/**'],
  },
)

const SOURCES = globSync('{src,demo,eval}/**/*.ts', {
  cwd: root,
  exclude: ['**/*.test.ts', '**/fixtures/**'],
})

/** Pages for readers who do not know byref yet. */
const TEACHING = globSync('{README.md,docs/*.md,docs/{guides,concepts,integrations}/*.md}', {
  cwd: root,
})

/** Terms of the glossary that readers cannot know. A page explains each one, or links to its explanation. */
const TERMS: Record<string, RegExp> = {
  board: /\bboards?\b/i,
  codec: /\bcodecs?\b/i,
  compaction: /\bcompact(?:ion|ed)\b/i,
  'data message': /\bdata messages?\b/i,
  'embedded reference': /\bembedded references?\b/i,
  'flow check': /\bflow checks?\b/i,
  fold: /\bfold(?:s|ed)?\b/i,
  label: /\blabel(?:s|led)?\b/i,
  lease: /\bleases?\b/i,
  'mapped call': /\bmapped calls?\b/i,
  namespace: /\bnamespaces?\b/i,
  offload: /\boffload(?:s|ed|ing)?\b/i,
  quarantine: /\bquarantined?\b/i,
  redact: /\bredact(?:s|ed)?\b/i,
  'sub-agent': /\bsub-agents?\b/i,
  'take over': /\b(?:takes? over|taken over)\b/i,
  'value source': /\bvalue sources?\b/i,
}

/** Words that have a better one, from the glossary's list. */
const AVOIDED = avoidedWords()

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

function avoidedWords(): { pattern: RegExp; write: string }[] {
  const table = read('docs/reference/glossary.md').split('## Words that we do not use')[1] ?? ''
  return [...table.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)]
    .slice(1)
    .flatMap(([, not = '', write = '']) =>
      not.split(',').map((word) => ({
        pattern: new RegExp(`\\b${word.trim()}\\b`, 'i'),
        write: write.trim(),
      })),
    )
}

/** The prose of a page: without code, tables, headings and link targets. */
function proseOf(markdown: string): string {
  return markdown
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replace(/^ *(```|~~~)[\s\S]*?^ *\1.*$/gm, '\n')
    .replace(/^\|.*$/gm, '\n')
    .replace(/^#+ .*$/gm, '\n')
    .replace(/<[^>\n]+>/g, ' ')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`[^`\n]+`/g, 'code')
    .replace(/\*\*|__/g, '')
    .replace(/^\s*(?:[-*+]|\d+\.)\s+/gm, '\n\n')
}

function sentencesOf(prose: string): string[] {
  return prose
    .split(/\n\s*\n/)
    .flatMap((paragraph) =>
      paragraph.replace(/\s+/g, ' ').split(/(?<=[.!?])\s+(?=[A-Z“"(`†]|code)|(?<=[:;])\s/),
    )
    .map((sentence) => sentence.trim())
}

function tooLong(prose: string): string[] {
  const words = (sentence: string): number =>
    sentence.split(/\s+/).filter((one) => /\w/.test(one)).length
  return sentencesOf(prose).filter((sentence) => words(sentence) > MOST_WORDS)
}

function avoided(prose: string): string[] {
  return sentencesOf(prose).flatMap((sentence) =>
    AVOIDED.filter(({ pattern }) => pattern.test(sentence)).map(
      ({ pattern, write }) =>
        `${pattern.source.replaceAll('\\b', '')} (write: ${write}): ${sentence}`,
    ),
  )
}

/** Returns the terms that a page first uses without a link or bold print in the same paragraph. */
function unexplained(markdown: string): string[] {
  const text = markdown
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replace(/^ *(```|~~~)[\s\S]*?^ *\1.*$/gm, '\n')
    .replace(/^#+ .*$/gm, '\n')
    .replace(/`[^`]+`/g, 'code')
  return Object.entries(TERMS).flatMap(([term, pattern]) => {
    const first = text.search(pattern)
    if (first === -1) return []
    const end = text.indexOf('\n\n', first)
    const upTo = text.slice(0, end === -1 ? undefined : end)
    const explained = upTo.matchAll(/\*\*([^*]+)\*\*|\[([^\]]+)\]\(/g)
    return [...explained].some(([, bold, link]) => pattern.test(bold ?? link ?? '')) ? [] : [term]
  })
}

/** The docstrings of a file, as prose. */
function docstringsOf(code: string): string[] {
  return [...code.matchAll(/\/\*\*([\s\S]*?)\*\//g)].map(([, text = '']) =>
    proseOf(
      text
        .replace(/^\s*\*\s?/gm, '')
        .replace(/\{@link (\S+?)\}/g, '$1')
        .replace(/@\w+/g, '\n\n'),
    ),
  )
}

/** The messages of a file's errors. */
function errorsOf(code: string): string[] {
  const errors = code.matchAll(/new ByrefError\(\s*[^,]+,\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g)
  return [...errors].map(([, , message = '']) => message.replace(/\$\{[^}]*\}/g, 'value'))
}

function longLines(markdown: string): string[] {
  const isAddress = /^\s*(?:[-*] )?\S*https?:\/\/\S+\S*$/
  return markdown
    .replace(/^ *(```|~~~)[\s\S]*?^ *\1.*$/gm, '')
    .split('\n')
    .filter((line) => line.length > MOST_COLUMNS && !line.startsWith('|') && !isAddress.test(line))
}

describe('the check itself', () => {
  it('finds a long sentence, but not in code or tables', () => {
    const long = Array.from({ length: 31 }, (_, i) => `word${i}`).join(' ')
    expect(tooLong(proseOf(`Short. ${long}.\n\nShort again.`))).toHaveLength(1)
    expect(tooLong(proseOf(`\`\`\`\n${long}\n\`\`\`\n| ${long} |\n\`${long}\``))).toEqual([])
    expect(tooLong(docstringsOf(`/**\n * ${long}.\n */`).join('\n'))).toHaveLength(1)
    expect(errorsOf("throw new ByrefError('x', 'No such thing')")).toEqual(['No such thing'])
  })

  it('finds a long line and a word that the glossary replaces', () => {
    expect(longLines(`${'x'.repeat(121)}\n| ${'x'.repeat(121)} |`)).toHaveLength(1)
    expect(AVOIDED.length).toBeGreaterThan(10)
    expect(avoided('The result is spilled.')).toHaveLength(1)
  })

  it('finds a term that is used before it is explained', () => {
    expect(unexplained('The board.\n\nThe **board** holds data.')).toEqual(['board'])
    expect(unexplained('The **board** holds data.\n\nA `lease`.')).toEqual([])
    expect(unexplained('A [lease](glossary.md) of ten seconds.')).toEqual([])
    const glossary = read('docs/reference/glossary.md')
    expect(Object.keys(TERMS).filter((term) => !glossary.includes(`**${term}**`))).toEqual([])
  })
})

describe('every page', () => {
  it.each(PAGES)('%s reads well', (file) => {
    const text = read(file)
    const prose = proseOf(text)
    const words = file.endsWith('glossary.md') ? [] : avoided(prose)
    expect({ sentences: tooLong(prose), lines: longLines(text), words }).toEqual({
      sentences: [],
      lines: [],
      words: [],
    })
  })
})

describe('every page for new readers', () => {
  it.each(TEACHING)('%s explains its terms', (file) => {
    expect(unexplained(read(file))).toEqual([])
  })
})

describe('every docstring and error', () => {
  it('has short sentences in plain words', () => {
    const found = SOURCES.flatMap((file) => {
      const code = read(file)
      const texts = [...docstringsOf(code), ...errorsOf(code)]
      return texts
        .flatMap((text) => [...tooLong(text), ...avoided(text)])
        .map((one) => `${file}: ${one}`)
    })
    expect(found).toEqual([])
  })
})
