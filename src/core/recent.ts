/** Sets a value, and removes the entries that were set longest ago if a map has more than `max` entries. */
export function setRecent<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  max: number,
): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= max) return
    map.delete(oldest)
  }
}

/** Returns the value of a key, or makes it. It becomes the one that was used last. */
export function getRecent<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  make: () => Value,
  max: number,
): Value {
  const value = map.get(key) ?? make()
  setRecent(map, key, value, max)
  return value
}
