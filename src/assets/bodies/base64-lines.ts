/** Nobody breaks base64 into shorter lines. */
export const MIN_LINE = 20

/** Base64 that was broken into lines of one length, as one line; null where the lines are no such lines. */
export function joinLines(text: string): string | null {
  const lines = linesOf(text)
  const width = lines[0]?.length ?? 0
  const last = lines.length - 1
  const isRegular = lines.every(({ length }, i) => (i < last ? length === width : length <= width))
  return isRegular && (last === 0 || width >= MIN_LINE) ? lines.join('') : null
}

/** The lines without what indents them, and without empty ones around them. */
export function linesOf(text: string): string[] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim())
}
