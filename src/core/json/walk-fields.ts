import { ByrefError } from '../errors.ts'

/** A container that is being walked. */
interface Level {
  source: object
  /** Null for a list. */
  keys: string[] | null
  next: number
  size: number
  prefix: string
}

/**
 * Visits every field of a value, depth first, with the name that {@link flatten} gives it. `visit` may return
 * how many entries of a container to visit; a negative number ends the walk. Values may be nested to any
 * depth.
 */
export function walkFields(
  root: object,
  sep: string,
  visit: (name: string, value: unknown, parent: object, key: string) => number | undefined,
): void {
  const escapeKey = keyEscaper(sep)
  const stack: Level[] = []
  let level = enter(root, '')
  for (;;) {
    const { source, keys, prefix } = level
    if (level.next === level.size) {
      const outer = stack.pop()
      if (!outer) return
      level = outer
      continue
    }
    const index = level.next++
    const key = keys ? (keys[index] as string) : index
    const path = prefix + (keys ? escapeKey(key as string) : index)
    const value = (source as Record<string, unknown>)[key]
    const most = visit(key === '' ? path + sep : path, value, source, key as string)
    if (most !== undefined && most < 0) return
    if (typeof value === 'object' && value !== null) {
      stack.push(level)
      level = enter(value, path + sep, most)
    }
  }
}

function enter(source: object, prefix: string, most?: number): Level {
  const keys = Array.isArray(source) ? null : Object.keys(source)
  const size = most ?? (keys ?? (source as unknown[])).length
  return { source, keys, next: 0, size, prefix }
}

/** Escapes what could not be parsed again: the separator, `%`, and trailing white space, which URLs lose. */
function keyEscaper(sep: string): (key: string) => string {
  if (sep === '' || /[%\p{L}\p{N}\p{Cs}]/u.test(sep)) {
    throw new ByrefError('invalid_data', `${JSON.stringify(sep)} cannot separate keys.`)
  }
  const special = new RegExp(`[%${sep.replace(/[\\\]^-]/g, '\\$&')}]|\\s$`, 'gu')
  const escaped: Record<string, string> = Object.create(null)
  return (key) => {
    escaped[key] ??= key.replace(special, percent)
    return escaped[key]
  }
}

function percent(char: string): string {
  const encoded = encodeURIComponent(char)
  if (encoded !== char) return encoded
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`
}
