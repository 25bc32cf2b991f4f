import { checkOptions, is, type OptionTable } from '../check-options.ts'
import { ByrefError } from '../errors.ts'
import { putKey, shownJson } from '../json/json.ts'
import { walkFields } from '../json/walk-fields.ts'
import { ASSET_FIELDS, decodeSegment } from '../refs/asset-ref.ts'
import type { AssetMeta } from './asset-meta.ts'

/** Options of {@link flatten} and {@link unflatten}. */
export interface FlattenOptions {
  /** Joins the keys of a path. Default `/`. Must not be empty or contain `%`, letters or digits. */
  sep?: string
  /** Whether each container gets a line with its type. Default true. */
  keepContainerType?: boolean
}

const OPTIONS: OptionTable<FlattenOptions> = { sep: is.string, keepContainerType: is.boolean }

const DICT = "<class 'dict'>"
const LIST = "<class 'list'>"

/** Text that looks like a container line. It gets a backslash, so that unflatten can distinguish it. */
const LOOKALIKE = /^\\*<class '(?:dict|list)'>$/

/** First-level fields whose value is always text, even if it looks like a type string. */
const TEXT_FIELDS = ASSET_FIELDS.filter((field) => field !== 'content')

/**
 * Returns one line per field, depth first, in the meta's own order. The separator and `%` are percent-escaped
 * in keys. With `/`, a key can therefore be appended to `asset://id/`. A path whose last key is empty ends
 * with the separator twice. Values may be nested to any depth.
 */
export function flatten(meta: object, options?: FlattenOptions): Record<string, unknown> {
  const { sep = '/', keepContainerType = true } = checkOptions('flatten', options, OPTIONS)
  // An object without a prototype is faster for many keys, and `__proto__` is an ordinary key in it.
  const flat: Record<string, unknown> = Object.create(null)
  walkFields(meta, sep, (name, value) => {
    if (typeof value === 'object' && value !== null) {
      if (keepContainerType) flat[name] = Array.isArray(value) ? LIST : DICT
      return undefined
    }
    const isLookalike = typeof value === 'string' && value.endsWith("'>") && LOOKALIKE.test(value)
    flat[name] = isLookalike && !TEXT_FIELDS.includes(name) ? `\\${value}` : value
    return undefined
  })
  return Object.setPrototypeOf(flat, Object.prototype)
}

type Tree = Record<string, unknown>

/**
 * Returns the meta from which {@link flatten} made these lines, given the same options. Without container
 * lines, empty containers are lost, and an object with the keys 0 to n-1 becomes a list. Throws `invalid_data`
 * if a list item is out of order, or if a line is below a value that is not a container.
 */
export function unflatten(flat: object, options?: FlattenOptions): AssetMeta {
  const { sep = '/', keepContainerType = true } = checkOptions('unflatten', options, OPTIONS)
  const root: Tree & Partial<AssetMeta> = {}
  const guessed: { parent: Tree; key: string; value: Tree }[] = []
  for (const [name, line] of Object.entries(flat)) {
    const path = name.split(sep).map(decodeSegment)
    if (path.length > 1 && path.at(-1) === '') path.pop()
    const key = path.pop() as string
    let parent = root
    for (const [depth, step] of path.entries()) {
      if (!Object.hasOwn(parent, step)) {
        const value = {}
        put(parent, step, value, name)
        guessed.push({ parent, key: step, value })
      }
      parent = containerIn(parent, step, () => path.slice(0, depth + 1).join(sep))
    }
    put(parent, key, TEXT_FIELDS.includes(name) ? line : readLine(line, keepContainerType), name)
  }
  for (const { parent, key, value } of guessed.reverse()) {
    const isList = Object.keys(value).every((name, index) => name === String(index))
    if (isList) putKey<unknown>(parent, key, Object.values(value))
  }
  return root as AssetMeta
}

/**
 * Returns the container that an earlier line created.
 * @throws ByrefError `invalid_data`
 */
function containerIn(parent: Tree, key: string, name: () => string): Tree {
  const value = parent[key]
  if (typeof value === 'object' && value !== null) return value as Tree
  throw new ByrefError(
    'invalid_data',
    `${JSON.stringify(name())} is ${shownJson(value)} and has no fields.`,
  )
}

function readLine(line: unknown, typed: boolean): unknown {
  // A structured value belongs to the caller, so it is copied before lines are added to it.
  if (typeof line === 'object') return structuredClone(line)
  if (typeof line !== 'string' || !LOOKALIKE.test(line)) return line
  if (line.startsWith('\\')) return line.slice(1)
  return typed ? (line === LIST ? [] : {}) : line
}

function put(parent: Tree, key: string, value: unknown, name: string): void {
  if (Array.isArray(parent) && key !== String(parent.length)) {
    throw new ByrefError(
      'invalid_data',
      `${JSON.stringify(name)} is not the next item of its list.`,
    )
  }
  putKey(parent, key, value)
}
