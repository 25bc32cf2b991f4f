/** What a text is as JSON; a text that is none as it is. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The object or list that a text is as JSON; undefined for any other text. */
export function dataInText(text: string): object | undefined {
  const found = /^\s*[[{]/.test(text) ? jsonOrText(text) : text
  return typeof found === 'string' ? undefined : (found as object)
}
