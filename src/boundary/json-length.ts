/** About how many characters the JSON of a value has, counted no further than a little over `max`. */
export function jsonLength(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return String(value).length
  let length = 2
  for (const [key, item] of Object.entries(value)) {
    if (length > max) return length
    length += (Array.isArray(value) ? 1 : key.length + 4) + jsonLength(item, max - length)
  }
  return length
}
