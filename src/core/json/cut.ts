/** What was cut: characters of a text, items of a list. */
export type CutUnit = 'characters' | 'items'

/** The mark at the end of what was cut, with its real size: `<cut: 1000000 items>`, the last item of a list. */
export function cutMark(size: number, unit: CutUnit): string {
  return `<cut: ${size} ${unit}>`
}

/** The real size that a mark at the end of a text names; null where there is none. */
export function readCutMark(value: unknown, unit: CutUnit): number | null {
  const mark = typeof value === 'string' ? /<cut: (\d{1,16}) (\w+)>$/.exec(value.slice(-40)) : null
  return mark?.[2] === unit ? Number(mark[1]) : null
}

/** At most `max` characters and then the mark; a text that was cut before keeps its real size. */
export function cutText(text: string, max: number): string {
  const real = readCutMark(text, 'characters')
  if ((real === null ? text.length : text.lastIndexOf('<cut: ')) <= max) return text
  return (
    text.slice(0, max).replace(/[\ud800-\udbff]$/, '') + cutMark(real ?? text.length, 'characters')
  )
}

/** The items of a list without the mark of a cut, and how many there were before it. */
export function shownItems(list: readonly unknown[]): {
  items: readonly unknown[]
  length: number
} {
  const length = readCutMark(list.at(-1), 'items')
  return length === null
    ? { items: list, length: list.length }
    : { items: list.slice(0, -1), length }
}
