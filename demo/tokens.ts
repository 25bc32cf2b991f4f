/** Words, numbers, dates and comparison signs. */
const TOKEN = /\d{4}-\d{2}(?:-\d{2})?|\d+(?:[.,]\d+)*|[\p{L}\p{M}]+|[<>=]=?/gu

/**
 * Returns the words of a text without case and accents: `Größe (kg)` equals `grosse KG`. Names in camel case become
 * several words.
 */
export function tokens(text: string): string[] {
  const plain = text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
  return plain.match(TOKEN) ?? []
}

/** Returns the approximate singular of an English word. Both sides of a comparison use it. */
export function stem(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (word.length > 4 && /(?:s|x|ch|sh)es$/.test(word)) return word.slice(0, -2)
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}
