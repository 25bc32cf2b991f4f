/**
 * Returns a unique name for every column: `name_2` for the second of a name, or the next number that no other column
 * has. SQL does not distinguish the case of letters, so `name` and `Name` are one name.
 */
export function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set(names.map((name) => name.toLowerCase()))
  /** The last number of each name, so that many columns with one name take no quadratic time. */
  const numbers = new Map<string, number>()
  return names.map((name) => {
    const key = name.toLowerCase()
    let number = numbers.get(key)
    let unique = name
    if (number !== undefined) {
      do unique = `${name}_${++number}`
      while (taken.has(unique.toLowerCase()))
      taken.add(unique.toLowerCase())
    }
    numbers.set(key, number ?? 1)
    return unique
  })
}
