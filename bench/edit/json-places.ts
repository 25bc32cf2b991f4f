/** A value in a JSON text. */
export interface JsonPlaceInText {
  /** JSON Pointer (RFC 6901). */
  pointer: string
  start: number
  end: number
  /** The entries of the list that it is in; null for a member of an object. */
  siblings: readonly { start: number; end: number }[] | null
  isScalar: boolean
}

/** Returns where the values of a JSON text are, without the root. The text is valid JSON. */
export function jsonPlaces(text: string): JsonPlaceInText[] {
  return new PlaceReader(text).read()
}

class PlaceReader {
  readonly #text: string
  readonly #places: JsonPlaceInText[] = []
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): JsonPlaceInText[] {
    this.#value('', null)
    return this.#places.filter(({ pointer }) => pointer !== '')
  }

  #value(pointer: string, siblings: { start: number; end: number }[] | null): void {
    this.#skip(/\s*/y)
    const start = this.#at
    const first = this.#text[start]
    if (first === '[') this.#list(pointer)
    else if (first === '{') this.#object(pointer)
    else this.#skip(/"(?:[^"\\]|\\.)*"|[^\s,\]}]+/y)
    const end = this.#at
    siblings?.push({ start, end })
    this.#places.push({ pointer, start, end, siblings, isScalar: !/[[{]/.test(first ?? '') })
  }

  #list(pointer: string): void {
    const items: { start: number; end: number }[] = []
    this.#entries(']', () => this.#value(`${pointer}/${items.length}`, items))
  }

  #object(pointer: string): void {
    this.#entries('}', () => {
      const key = JSON.parse(this.#skip(/"(?:[^"\\]|\\.)*"/y)) as string
      this.#skip(/\s*:/y)
      this.#value(`${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, null)
    })
  }

  /** Reads what is between two brackets. */
  #entries(closing: string, readEntry: () => void): void {
    this.#at++
    this.#skip(/\s*/y)
    while (this.#text[this.#at] !== closing) {
      readEntry()
      this.#skip(/\s*,?\s*/y)
    }
    this.#at++
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    return found
  }
}
