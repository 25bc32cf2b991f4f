/** Returns the object without the keys whose value is undefined. */
export function defined<T extends object>(value: T): T {
  const found = {} as T
  for (const key of Object.keys(value) as (keyof T)[]) {
    if (value[key] !== undefined) found[key] = value[key]
  }
  return found
}
