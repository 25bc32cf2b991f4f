import { parseJson } from '../assets/tables/long-number.ts'

/** A whole number in JSON that may have more digits than JavaScript keeps. */
const LONG = /(?:^|[[,:])\s*-?\d{16,}\s*(?:$|[,\]}])/

/**
 * Returns the JSON value of a text, or the text itself if it is not JSON. A whole number that JavaScript would round
 * becomes text, because it may be an id.
 */
export function jsonOrText(text: string): unknown {
  try {
    return LONG.test(text) ? parseJson(text, wholeAsText) : JSON.parse(text)
  } catch {
    return text
  }
}

function wholeAsText(_: unknown, text: string): string | number {
  return /^-?\d+$/.test(text) ? text : Number(text)
}

/** Returns the object or list that a text encodes as JSON. Undefined for any other text. */
export function dataInText(text: string): object | undefined {
  const found = /^\s*[[{]/.test(text) ? jsonOrText(text) : text
  return typeof found === 'string' ? undefined : (found as object)
}

/** Returns the object or list that a text encodes as JSON. Returns any other value unchanged. */
export function dataOrText(value: unknown): unknown {
  return typeof value === 'string' ? (dataInText(value) ?? value) : value
}

/**
 * Returns the arguments of a call. Undefined for text that is neither an object nor a list. Numbers are parsed as the
 * framework of the tool parses them, because its schema checks them.
 */
export function argumentsInText(text: string): object | undefined {
  try {
    const found: unknown = JSON.parse(text)
    return typeof found === 'object' && found !== null ? found : undefined
  } catch {
    return undefined
  }
}
