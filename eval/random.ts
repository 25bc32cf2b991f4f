const WORDS =
  'amber basin cedar delta ember flint grove harbor indigo juniper kettle lantern meadow nickel orchard pepper quartz river saddle timber umber violet walnut yarrow zephyr'.split(
    ' ',
  )
const CITIES = ['Accra', 'Bergen', 'Cusco', 'Dakar', 'Izmir', 'Kyoto', 'Lisbon', 'Oslo']
const NAMES = ['Ada', 'Bruno', 'Chloe', 'Diego', 'Elif', 'Femi', 'Greta', 'Hiro', 'Ines', 'Jonas']

/** A row of the tables that tasks pass around. */
export interface OrderRow {
  id: string
  customer: string
  city: string
  amount: number
}

/** Generates the data of tasks. The same seed generates the same data. */
export class Random {
  #state: number

  /** @param seed Any text. */
  constructor(seed: string) {
    this.#state = 2166136261
    for (const char of seed) {
      this.#state = Math.imul(this.#state ^ (char.codePointAt(0) ?? 0), 16777619)
    }
  }

  /** Returns a whole number from `min` to `max`. */
  int(min: number, max: number): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return min + (((mixed ^ (mixed >>> 14)) >>> 0) % (max - min + 1))
  }

  /** Returns `count` different items of a list. */
  pick<Item>(list: readonly Item[], count: number): Item[] {
    const left = [...list]
    return Array.from({ length: count }, () => left.splice(this.int(0, left.length - 1), 1)).flat()
  }

  names(count: number): string[] {
    return this.pick(NAMES, count)
  }

  /** Returns an id such as `inv-8f3k2`. */
  id(prefix: string): string {
    return `${prefix}-${this.int(36 ** 4, 36 ** 5 - 1).toString(36)}`
  }

  /** Returns sentences with at least this many characters. */
  prose(characters: number): string {
    let text = ''
    while (text.length < characters) {
      const words = Array.from({ length: this.int(6, 12) }, () => this.pick(WORDS, 1)[0])
      const [first = '', ...rest] = words.join(' ')
      text += `${text && ' '}${first.toUpperCase()}${rest.join('')} ${this.int(10, 999)}.`
    }
    return text
  }

  orders(count: number): OrderRow[] {
    return Array.from({ length: count }, () => ({
      id: this.id('ord'),
      customer: this.names(1).join(),
      city: this.pick(CITIES, 1).join(),
      amount: this.int(100, 9999),
    }))
  }
}
