const WORDS =
  'the service keeps every record of the order until its owner asks for it and the price of a plan is told in advance so that nobody has to guess what a month costs while support answers within a day on all plans but the free one'.split(
    ' ',
  )

/** Returns text of about this many characters, one sentence per line. It is always the same. */
export function prose(characters: number, seed = 1): string[] {
  const lines: string[] = []
  let state = seed
  for (let length = 0; length < characters; ) {
    const words = Array.from({ length: 14 }, () => {
      state = (state * 1103515245 + 12345) % 2147483648
      return WORDS[state % WORDS.length] as string
    })
    const line = `${words.join(' ')}.`
    lines.push(line)
    length += line.length + 1
  }
  return lines
}

/** Returns rows of orders. They are always the same. */
export function orders(
  count: number,
): { id: string; customer: string; city: string; total: number; status: string }[] {
  const cities = ['Lisbon', 'Oslo', 'Kyoto', 'Quito', 'Accra']
  return Array.from({ length: count }, (_, i) => ({
    id: `ord_${(100_000 + i * 37).toString(36)}`,
    customer: `customer ${(i * 7919) % 977}`,
    city: cities[i % cities.length] as string,
    total: ((i * 2654435761) % 90_000) / 100,
    status: i % 3 === 0 ? 'open' : 'paid',
  }))
}

/** Returns the text of the model's request, for answers that quote a part of it. */
export function shown({ prompt }: { prompt: unknown }): string {
  return JSON.stringify(prompt)
}

/** Returns the last match of the pattern's group in the model's request. */
export function found(options: { prompt: unknown }, pattern: RegExp): string {
  const all = [...shown(options).matchAll(new RegExp(pattern, 'g'))]
  const last = all.at(-1)?.[1]
  if (last === undefined) throw new Error(`The prompt has nothing like ${pattern}`)
  return last
}
