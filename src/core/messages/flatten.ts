import { checkOptions, is, type OptionTable } from '../check-options.ts'
import { ByrefError } from '../errors.ts'
import { putKey, shownJson } from '../json/json.ts'
import { walkFields } from '../json/walk-fields.ts'
import { ASSET_FIELDS } from '../refs/asset-id.ts'
import { decodeSegment } from '../refs/asset-ref.ts'
import type { AssetMeta } from './asset.ts'

/** Options of {@link flatten} and {@link unflatten}. */
export interface FlattenOptions {
  /** What joins the keys of a path. Default `/`. Not empty, no `%`, no letter and no digit. */
  sep?: string
  /** Whether each container has a line with its type. Default true. */
  keepContainerType?: boolean
}

const OPTIONS: OptionTable<FlattenOptions> = { sep: is.string, keepContainerType: is.boolean }

const DICT = "<class 'dict'>"
const LIST = "<class 'list'>"
/** Text that reads like a container line: it gets a backslash, so that unflatten can tell. */
const LOOKALIKE = /^\\*<class '(?:dict|list)'>$/
/** First-level fields whose value is always text, type strings included. */
const TEXT_FIELDS = ASSET_FIELDS.filter((field) => field !== 'content')

/**
 * One line per field, depth first, in the meta's own order. In keys the
 * separator and `%` are percent-escaped: with `/`, a key can be pasted behind `asset://id/`. Like there, a path whose
 * last key is empty ends with the separator twice. Any depth.
 */
export function flatten(meta: object, options?: FlattenOptions): Record<string, unknown> {
  const { sep = '/', keepContainerType = true } = checkOptions('flatten', options, OPTIONS)
  // A dictionary from the start: faster for many keys, and `__proto__` is a key like any other.
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
 * The meta that {@link flatten} made these lines from, with the same options. Without container lines, empty
 * containers are gone, and what has the keys 0 to n-1 is taken for a list. Throws `invalid_data` for an item of a list
 * that is not the next one, and for a field of what is no container.
 */
export function unflatten(flat: object, options?: FlattenOptions): AssetMeta {
  const { sep = '/', keepContainerType = true } = checkOptions('unflatten', options, OPTIONS)
  const root: Tree = {}
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
  return root as unknown as AssetMeta
}

/** The container under a key that an earlier line made. @throws ByrefError `invalid_data` */
function containerIn(parent: Tree, key: string, name: () => string): Tree {
  const value = parent[key]
  if (typeof value === 'object' && value !== null) return value as Tree
  throw new ByrefError(
    'invalid_data',
    `${JSON.stringify(name())} is ${shownJson(value)} and has no fields.`,
  )
}

function readLine(line: unknown, typed: boolean): unknown {
  // A value that came as one is the caller's: it is not written into.
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
