/** The unit of what was cut: characters of a text, or items of a list. */
export type CutUnit = 'characters' | 'items'

/**
 * Returns the mark that ends a cut value and gives its full size, such as `<cut from 1000000 items>` as the last
 * item of a list.
 */
export function cutMark(size: number, unit: CutUnit): string {
  return `<cut from ${size} ${unit}>`
}

/** Returns the full size in the mark at the end of a text. Null if there is no mark. */
export function readCutMark(value: unknown, unit: CutUnit): number | null {
  const mark =
    typeof value === 'string' ? /<cut from (\d{1,16}) (\w+)>$/.exec(value.slice(-50)) : null
  return mark?.[2] === unit ? Number(mark[1]) : null
}

/**
 * Cuts a text to at most `max` characters and adds the mark. A text that was cut before keeps its original
 * size.
 */
export function cutText(text: string, max: number): string {
  const real = readCutMark(text, 'characters')
  if ((real === null ? text.length : text.lastIndexOf('<cut from ')) <= max) return text
  return textStart(text, max) + cutMark(real ?? text.length, 'characters')
}

/** Returns the first `max` characters of a longer text, without half of a surrogate pair at the end. */
export function textStart(text: string, max: number): string {
  return text.slice(0, max).replace(/[\ud800-\udbff]$/, '')
}

/** Returns a text of at most `max` characters, or the beginning of a longer one and `…`. */
export function shortened(text: string, max: number): string {
  return text.length > max ? `${textStart(text, max)}…` : text
}

/** Returns the items of a list without the mark of a cut, and the list's full length. */
export function shownItems<T>(list: readonly T[]): {
  items: readonly T[]
  length: number
} {
  const length = readCutMark(list.at(-1), 'items')
  return { items: length === null ? list : list.slice(0, -1), length: length ?? list.length }
}
