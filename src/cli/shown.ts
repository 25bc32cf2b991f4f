/** What a terminal obeys or hides: controls, and marks that turn the order of what is read; but no line ends, tabs and joiners of letters. */
const UNSEEN = /(?![\n\t\u200c\u200d]|\r\n)[\p{C}\u2028\u2029]/gu

/**
 * Text that somebody else chose, for a terminal: what it would obey or hide is written out, as in `\u{1b}`, so that nothing
 * that is asked about looks like something else.
 */
export function shown(text: string): string {
  return text.replace(UNSEEN, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)
}
