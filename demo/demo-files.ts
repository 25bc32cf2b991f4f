import type { DemoFile, DemoPrompt } from './demo-prompt.ts'
import { tokens } from './tokens.ts'

const NOUNS = new Map([
  ...['picture', 'image', 'photo'].map((word) => [word, 'image'] as const),
  ...['text', 'document', 'pdf', 'file', 'it', 'this', 'audio', 'video'].map(
    (word) => [word, null] as const,
  ),
])
const FACTS = {
  kind: 'kind type format mime'.split(' '),
  size: 'size large big bytes'.split(' '),
  length: 'long length words lines characters'.split(' '),
  maker: 'made created attached sent uploaded drew'.split(' '),
}
const FILLERS =
  'what which who how of is the a an was were are does do did has have in this that it many much s'
const KNOWN = new Set([...NOUNS.keys(), ...Object.values(FACTS).flat(), ...FILLERS.split(' ')])

/**
 * Returns the answer to a question about an attached picture or text, or a picture that a tool made: its type, size
 * and origin. Null if the question is not about one.
 */
export function tellFile(
  question: string,
  { files, tables, results, earlier }: DemoPrompt,
): string | null {
  const words = tokens(question)
  const nouns = words.filter((word) => NOUNS.has(word))
  const isAboutPicture = nouns.some((word) => NOUNS.get(word) === 'image')
  const isAboutText = nouns.some((word) =>
    ['text', 'document', 'pdf', 'audio', 'video'].includes(word),
  )
  if (!isAboutPicture && !isAboutText && (tables.length > 0 || files.length === 0)) return null
  if (nouns.length === 0) return null
  const file = files.findLast(({ kind }) => (isAboutPicture ? kind === 'image' : kind !== 'image'))
  const isAsked = (fact: keyof typeof FACTS): boolean =>
    words.some((word) => FACTS[fact].includes(word))
  const name = file?.name ?? 'the picture'
  const isUnderstood = words.every((word) => KNOWN.has(word))
  const facts = [
    ...(file && isAsked('kind') && file.mime ? [`it is ${file.mime}`] : []),
    ...(file && isAsked('size') && file.bytes ? [`it has ${file.bytes}`] : []),
    ...(file && (isAsked('length') || isAsked('size')) && file.text !== null
      ? [lengthOf(file)]
      : []),
    ...(file && isAsked('maker')
      ? ['it was attached to this conversation; I do not know who made it']
      : []),
  ]
  if (isUnderstood && facts.length > 0) return `${name}: ${facts.join('; ')}.`
  const chart = [...earlier, ...results].findLast(
    ({ tool, value }) => tool === 'chart_rows' && value,
  )
  if (isUnderstood && isAboutPicture && !file && chart && isAsked('maker')) {
    return `The tool \`chart_rows\` made the picture, from \`${chart.input.rows}\`.`
  }
  if (!file && !isAboutPicture) return null
  const known = file
    ? `what kind of file ${name} is, how large it is, and where it comes from`
    : 'which tool made a picture'
  return `I cannot answer that, because I cannot see pictures or understand texts; I only know ${known}.`
}

function lengthOf({ text }: DemoFile): string {
  const content = text ?? ''
  const words = content.split(/\s+/).filter(Boolean).length
  const lines = content === '' ? 0 : content.split('\n').length
  return `it has ${lines.toLocaleString('en')} lines, ${words.toLocaleString('en')} words and ${content.length.toLocaleString('en')} characters`
}
