import { ByrefError } from '../errors.ts'
import { decodeSegment } from '../refs/asset-ref.ts'
import type { AssetMeta } from './asset.ts'
import { putKey } from './json.ts'

/** Options of {@link flatten} and {@link unflatten}. */
export interface FlattenOptions {
  /** What joins the keys of a path. Default `/`. Not empty, no `%`, no letter and no digit. */
  sep?: string
  /** Whether each container has a line with its type. Default true. */
  keepContainerType?: boolean
}

const DICT = "<class 'dict'>"
const LIST = "<class 'list'>"
/** Text that reads like a container line: it gets a backslash, so that unflatten can tell. */
const LOOKALIKE = /^\\*<class '(?:dict|list)'>$/
/** First-level fields whose value is always text, type strings included. */
const TEXT_FIELDS = new Set(['asset_type', 'asset_id', 'asset_name', 'description', 'content_type'])

/**
 * One line per field, depth first, in the meta's own order (structured-assets.md, "flatten"; spec A3). In keys the
 * separator and `%` are percent-escaped: with `/`, a key can be pasted behind `asset://id/`. Like there, a path whose
 * last key is empty ends with the separator twice. Any depth.
 */
export function flatten(meta: object, options: FlattenOptions = {}): Record<string, unknown> {
  const { sep = '/', keepContainerType = true } = options
  const escapeKey = keyEscaper(sep)
  // A dictionary from the start: faster for many keys, and `__proto__` is a key like any other.
  const flat: Record<string, unknown> = Object.create(null)
  const stack: Level[] = []
  let level = enter(meta, '')

  for (;;) {
    const { source, keys, prefix } = level
    if (level.next === level.size) {
      const outer = stack.pop()
      if (!outer) return Object.setPrototypeOf(flat, Object.prototype)
      level = outer
      continue
    }
    const index = level.next++
    const key = keys ? (keys[index] as string) : ''
    const path = prefix + (keys ? escapeKey(key) : index)
    const value = (source as Record<string, unknown>)[keys ? key : index]
    const name = keys && key === '' ? path + sep : path
    let line = value
    if (typeof value === 'object' && value !== null) {
      stack.push(level)
      level = enter(value, path + sep)
      if (!keepContainerType) continue
      line = level.keys ? DICT : LIST
    } else if (typeof value === 'string' && value.endsWith("'>") && LOOKALIKE.test(value)) {
      line = prefix === '' && TEXT_FIELDS.has(key) ? value : `\\${value}`
    }
    flat[name] = line
  }
}

/** A container that is being walked through. */
interface Level {
  source: object
  /** Null for a list. */
  keys: string[] | null
  size: number
  next: number
  prefix: string
}

function enter(source: object, prefix: string): Level {
  const keys = Array.isArray(source) ? null : Object.keys(source)
  return { source, keys, size: keys ? keys.length : (source as unknown[]).length, next: 0, prefix }
}

interface Container {
  parent: Record<string, unknown> | unknown[]
  key: string
  value: Record<string, unknown> | unknown[]
}

/**
 * The meta that {@link flatten} made these lines from, with the same options. Without container lines, empty
 * containers are gone, and what has the keys 0 to n-1 is taken for a list. Throws `invalid_data` for lines that
 * contradict each other.
 */
export function unflatten(flat: object, options: FlattenOptions = {}): AssetMeta {
  const { sep = '/', keepContainerType = true } = options
  keyEscaper(sep)
  const root: Record<string, unknown> = {}
  const guessed: Container[] = []
  for (const [name, line] of Object.entries(flat)) {
    const keys = name.split(sep)
    if (keys.length > 1 && keys.at(-1) === '') keys.pop()
    const path = keys.map(decodeSegment)
    let parent: Container['value'] = root
    for (const key of path.slice(0, -1)) {
      let child: unknown = Object.hasOwn(parent, key)
        ? (parent as Record<string, unknown>)[key]
        : null
      if (typeof child !== 'object' || child === null) {
        child = {}
        place(parent, key, child, name)
        guessed.push({ parent, key, value: child as Container['value'] })
      }
      parent = child as Container['value']
    }
    const key = path.at(-1) as string
    const isText = path.length === 1 && TEXT_FIELDS.has(key)
    place(parent, key, isText ? line : read(line, keepContainerType), name)
  }
  for (const container of guessed.reverse()) listify(container)
  return root as unknown as AssetMeta
}

function read(line: unknown, typed: boolean): unknown {
  if (typeof line !== 'string') return line
  if (typed && line === DICT) return {}
  if (typed && line === LIST) return []
  return LOOKALIKE.test(line) && line.startsWith('\\') ? line.slice(1) : line
}

function place(parent: Container['value'], key: string, value: unknown, name: string): void {
  if (!Array.isArray(parent)) {
    putKey(parent, key, value)
  } else if (key === String(parent.length)) {
    parent.push(value)
  } else {
    throw new ByrefError(
      'invalid_data',
      `${JSON.stringify(name)} is not the next item of its list.`,
    )
  }
}

function listify({ parent, key, value }: Container): void {
  const keys = Object.keys(value)
  if (Array.isArray(value) || !keys.every((name, index) => name === String(index))) return
  const list = Object.values(value)
  if (Array.isArray(parent)) parent[Number(key)] = list
  else putKey(parent, key, list)
}

/** Escapes what would not read back: the separator's characters, `%`, and white space at the end, which a URL loses. */
export function keyEscaper(sep: string): (key: string) => string {
  if (sep === '' || /[%\p{L}\p{N}\p{Cs}]/u.test(sep)) {
    throw new ByrefError('invalid_data', `${JSON.stringify(sep)} cannot separate keys.`)
  }
  const special = new RegExp(`[%${sep.replace(/[\\\]^-]/g, '\\$&')}]|\\s$`, 'u')
  const all = new RegExp(special, 'gu')
  const known = new Map<string, string>()
  return (key) => {
    let escaped = known.get(key)
    if (escaped === undefined) {
      escaped = special.test(key) ? key.replace(all, percent) : key
      known.set(key, escaped)
    }
    return escaped
  }
}

function percent(char: string): string {
  const encoded = encodeURIComponent(char)
  if (encoded !== char) return encoded
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}
