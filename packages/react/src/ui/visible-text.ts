/**
 * Characters that a browser hides or obeys: controls, and marks that change the order of text. Line ends, tabs and
 * joiners of letters are allowed, and so are direction marks after a letter that is written from right to left.
 */
const HIDDEN = /(?![\n\t\r\u200c\u200d]|(?<=[\u0590-\u08ff])[\u200e\u200f])[\p{C}\u2028\u2029]/gu

/**
 * Makes hidden characters visible, because people decide on the basis of names and values: with such characters, an
 * `.exe` looks like a `.pdf`.
 */
export function visibleText(text: string): string {
  return text.replace(
    HIDDEN,
    (one) => `⟨U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase()}⟩`,
  )
}
