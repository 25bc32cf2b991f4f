/** Returns the JSON value of a text, or the text itself if it is not JSON. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Returns the object or list that a text encodes as JSON. Undefined for any other text. */
export function dataInText(text: string): object | undefined {
  const found = /^\s*[[{]/.test(text) ? jsonOrText(text) : text
  return typeof found === 'string' ? undefined : (found as object)
}
