/** What was cut: characters of a text, items of a list. */
export type CutUnit = 'characters' | 'items'

const MARK = /<cut: (\d{1,16}) (characters|items)>$/

/** The mark at the end of what was cut, with its real size: `<cut: 1000000 items>`, the last item of a list. */
export function cutMark(size: number, unit: CutUnit): string {
  return `<cut: ${size} ${unit}>`
}

/** The real size that a mark at the end of a text names; null where there is none. */
export function readCutMark(value: unknown, unit: CutUnit): number | null {
  if (typeof value !== 'string' || !value.endsWith('>')) return null
  const mark = MARK.exec(value.slice(-40))
  return mark?.[2] === unit ? Number(mark[1]) : null
}

/** At most `max` characters and then the mark; a text that was cut before keeps its real size. */
export function cutText(text: string, max: number): string {
  const real = readCutMark(text, 'characters')
  const length = real === null ? text.length : text.lastIndexOf('<cut: ')
  if (length <= max) return text
  const last = text.charCodeAt(max - 1)
  const end = last >= 0xd800 && last < 0xdc00 ? max - 1 : max
  return text.slice(0, end) + cutMark(real ?? text.length, 'characters')
}
