/**
 * Returns a function that does work once: the first call starts it, and every call gets its result. The next call after
 * a failure starts it again.
 */
export function onceResolved<T>(work: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | null = null
  return () => {
    started ??= work().catch((error) => {
      started = null
      throw error
    })
    return started
  }
}

/** Returns a function that makes a value once for each object, and keeps it as long as the object exists. */
export function oncePer<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, { value: Value }>()
  return (key) => {
    const known = values.get(key)
    if (known) return known.value
    const value = make(key)
    values.set(key, { value })
    return value
  }
}
