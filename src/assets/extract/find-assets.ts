import { ByrefError } from '../../core/errors.ts'
import type { AssetLimits } from '../assets-config.ts'
import { type DataUrl, isBase64File, parseDataUrl, readDataUrl } from '../bodies/data-url.ts'
import { type DataUrlMatch, findDataUrls } from '../bodies/find-data-urls.ts'
import {
  type AssetShape,
  carriesRef,
  copiedKeys,
  type Fields,
  mayHoldBody,
  shapeOf,
} from './asset-shapes.ts'
import { binaryBody, cancelFound, type FoundBody, sizeOf, typeOfBlob } from './found-body.ts'
import { mayBecomeAsset } from './may-hold-assets.ts'
import { type Contents, contentsOf, ListTooLongError, TreeNode, Unreadable } from './value-tree.ts'

/** A value that becomes a reference. */
export interface FoundValue {
  type: 'value'
  body: FoundBody
  /** The type that was declared for it. */
  mime: string | null
  name: string | null
  /** The fields that stay next to the reference. */
  rest: Fields
  /** JSON Pointer (RFC 6901). */
  origin: string
}

/** A text that contains data URLs, which become embedded references. */
export interface FoundText {
  type: 'text'
  text: string
  urls: DataUrlMatch[]
  origin: string
}

/** A part of the value with a body to save. */
export type Finding = FoundValue | FoundText

/** The replacement of an item. */
export type Leaf = Finding | FoundJson

/** A value after the walk. */
export interface FoundAssets {
  /** The first is a list around the value. */
  nodes: TreeNode<Leaf>[]
  /** In walk order. */
  findings: Finding[]
}

/** The limits of a value. */
type FindLimits = Pick<Required<AssetLimits>, 'depth' | 'items' | 'smallItems'>

/** Bodies below this size are small: the record of an asset takes more bytes. */
const SMALL_BYTES = 1_024

/**
 * Finds everything in a value that becomes an asset, and objects that become a list or a primitive. It is iterative, so
 * neither depth nor cycles can break it. It changes nothing, and reads each field once. An object with `toJSON` counts as
 * its result, as in the log. A field that throws is a body that cannot be saved. Keys are never examined. If it throws,
 * the streams that it found are ended.
 *
 * @throws ByrefError `too_deep` beyond `depth` levels, `too_many_assets` beyond `items` and `smallItems`,
 * `result_too_large` for a list that JSON cannot represent
 */
export function findAssets(value: unknown, limits: FindLimits): FoundAssets {
  const walk = new AssetWalk(limits)
  try {
    walk.run(value)
  } catch (error) {
    endStreams(walk.findings, error)
    throw error
  }
  return { nodes: [...walk.nodes.values()], findings: walk.findings }
}

/** Ends the streams among findings that nobody has started to read. */
export function endStreams(findings: readonly Finding[], reason: unknown): void {
  for (const finding of findings) if (finding.type === 'value') cancelFound(finding.body, reason)
}

type Node = TreeNode<Leaf>

class AssetWalk {
  readonly nodes = new Map<object, Node>()
  readonly findings: Finding[] = []
  readonly #limits: FindLimits
  #count = 0
  #small = 0

  constructor(limits: FindLimits) {
    this.#limits = limits
  }

  run(value: unknown): void {
    const around = [value]
    this.nodes.set(around, new TreeNode<Leaf>(around, contentsOf(around), null, 0))
    // A Map also iterates entries that are added during the walk, so this ends when all nodes were seen.
    for (const node of this.nodes.values()) this.#visitItems(node)
  }

  #visitItems(node: Node): void {
    const { keys, items } = node.contents
    const isCarrier = keys !== null && carriesRef(items[keys.indexOf('assetRef')])
    for (let i = 0; i < items.length; i++) {
      const item = items[i]
      if (isObject(item)) this.#visitObject(item, node, i, isCarrier)
      else if (typeof item === 'string' && !isCarrier) this.#visitText(item, node, i)
    }
  }

  #visitObject(item: object, parent: Node, position: number, isCarrier: boolean): void {
    const known = this.nodes.get(item)
    if (known) {
      known.addParent(parent)
      return
    }
    const kind = classify(item, parent.keyAt(position))
    if (kind?.type === 'contents') this.#enter(item, kind.contents, parent, position)
    else if (kind?.type === 'shape') this.#visitShape(item, kind.shape, parent, position)
    else if (kind?.type === 'json') {
      parent.setLeaf(position, kind)
      const { json } = kind
      if (typeof json === 'string' && !isCarrier) this.#visitText(json, parent, position)
    } else if (kind?.type === 'text' && !isCarrier) this.#visitText(kind.text, parent, position)
    else if (kind?.type === 'body' && !(isCarrier && isCopy(kind.body))) {
      const { body } = kind
      const about = { name: null, rest: {}, origin: parent.originOf(position) }
      const finding = { type: 'value', body, mime: typeOfBlob(body), ...about } as const
      parent.setLeaf(position, this.#found(finding))
    }
  }

  #visitShape(item: object, shape: ShapeFound, parent: Node, position: number): void {
    const { body, name, rest } = shape
    const mime = shape.mime ?? typeOfBlob(body)
    const origin = parent.originOf(position)
    const finding = this.#found({ type: 'value', body, mime, name, rest, origin })
    if (!Object.values(rest).some(isToWalk)) parent.setLeaf(position, finding)
    else this.#enter(item, contentsOf(rest), parent, position).own = finding
  }

  #visitText(text: string, parent: Node, position: number): void {
    const found = mayBecomeAsset(text) ? findInText(text, parent.originOf(position)) : null
    if (found) parent.setLeaf(position, this.#found(found))
  }

  #enter(item: object, contents: Contents, parent: Node, position: number): Node {
    const { depth } = this.#limits
    const node = new TreeNode<Leaf>(item, contents, parent, position)
    if (node.level > depth) {
      const message = `The result is nested more than ${depth} levels deep (limits.depth).`
      throw new ByrefError('too_deep', message)
    }
    this.nodes.set(item, node)
    return node
  }

  #found(finding: Finding): Finding {
    const { items, smallItems } = this.#limits
    this.findings.push(finding)
    const sizes =
      finding.type === 'text'
        ? finding.urls.map(({ start, end }) => end - start)
        : [sizeOf(finding.body)]
    this.#count += sizes.length
    this.#small += sizes.filter((size) => size > 0 && size < SMALL_BYTES).length
    if (this.#count > items) throw tooMany(`${items} assets (limits.items)`)
    if (this.#small > smallItems) {
      throw tooMany(`${smallItems} assets of less than 1 kB (limits.smallItems)`)
    }
    return finding
  }
}

function findInText(text: string, origin: string): Finding | null {
  const about = { type: 'value', name: null, rest: {}, origin } as const
  if (isBase64File(text)) return { ...about, body: { type: 'base64', text }, mime: null }
  const url = readDataUrl(text)
  const whole: Finding | null = url && { ...about, body: { type: 'data-url', url }, mime: url.mime }
  if (parseDataUrl(text) || (url && isNoSentence(url))) return whole
  const urls = findDataUrls(text)
  if (urls.length > 0) return { type: 'text', text, urls, origin }
  // Base64 that is invalid from its first character.
  return url?.base64 ? whole : null
}

/** Returns whether a body next to a reference is a copy of the referenced asset. */
function isCopy({ type }: FoundBody): boolean {
  return type !== 'unreadable' && type !== 'numbers'
}

/** Returns whether the type shows that text with spaces is a data URL. Text about `data:text/html, …` is a sentence. */
function isNoSentence({ base64, mime, data }: DataUrl): boolean {
  return !base64 && mime !== null && !/^text\//i.test(mime) && /^\S.*$/.test(data)
}

/** Returns whether something inside a value may be replaced. */
function isToWalk(value: unknown): boolean {
  return typeof value === 'string' ? mayBecomeAsset(value) : isObject(value)
}

function tooMany(what: string): ByrefError {
  return new ByrefError('too_many_assets', `The result holds more than ${what}.`)
}

/** Maximum length of a typed array that becomes a list. Longer ones are bytes. */
const MAX_LISTED = 4096

/** An object that has the same information as JSON: a typed array of numbers as a list, `new Number(3)` as 3. */
interface FoundJson {
  type: 'json'
  json: readonly (number | bigint)[] | number | string | boolean
}

/** How the walk treats an object. */
type Classified =
  | { type: 'contents'; contents: Contents }
  /** An object that represents a body. */
  | { type: 'shape'; shape: ShapeFound }
  | FoundJson
  | { type: 'body'; body: FoundBody }
  | { type: 'text'; text: string }

/** A shape, and the fields next to its body. */
type ShapeFound = AssetShape & { rest: Fields }

/** Keys of a reference, or of the error in its place. They override the object's own keys. */
const RESULT_KEYS: ReadonlySet<string> = new Set(['assetRef', 'mimeType', 'kind', 'assetError'])

/**
 * Classifies an object under `key`. Returns null if it stays unchanged. Uses `toJSON` if it has one. Never throws
 * otherwise: an object that cannot be read is a body that cannot be saved.
 *
 * @throws ListTooLongError
 */
function classify(item: object, key: unknown): Classified | null {
  try {
    return classifyOrThrow(item, key)
  } catch (error) {
    if (error instanceof ListTooLongError) throw error
    return { type: 'body', body: { type: 'unreadable', error } }
  }
}

function classifyOrThrow(item: object, key: unknown): Classified | null {
  if (!isContainer(item)) {
    const binary = classifyBinary(item)
    if (binary || item instanceof Date) return binary
  }
  const { toJSON } = item as { toJSON?: unknown }
  if (typeof toJSON !== 'function') return classifyContents(item, key)
  const json = jsonOf(item, key)
  if (typeof json === 'string') return { type: 'text', text: json }
  return isObject(json) ? (classifyBinary(json) ?? classifyContents(json, key)) : null
}

/** Returns null if `toJSON` throws. The same error occurs when JSON is made of the value. */
function jsonOf(item: object, key: unknown): unknown {
  try {
    return (item as { toJSON(key: string): unknown }).toJSON(String(key))
  } catch {
    return null
  }
}

function classifyBinary(item: object): Classified | null {
  if (item instanceof Unreadable) {
    return { type: 'body', body: { type: 'unreadable', error: item.error } }
  }
  const body = binaryBody(item)
  if (body) return { type: 'body', body }
  return ArrayBuffer.isView(item) ? classifyNumbers(item) : null
}

function classifyContents(item: object, key: unknown): Classified {
  const json = isContainer(item) ? null : primitiveIn(item)
  if (json !== null) return { type: 'json', json }
  const contents = contentsOf(item)
  const shape = shapeIn(item, contents, key)
  return shape ? { type: 'shape', shape } : { type: 'contents', contents }
}

/** Returns the primitive value of a Number, String or Boolean object. Null for any other object. */
function primitiveIn(item: object): number | string | boolean | null {
  if (item instanceof Number) return Number(item)
  if (item instanceof String) return String(item)
  return item instanceof Boolean ? item.valueOf() : null
}

/** Returns whether an object is plain data. This test avoids checking its class in most cases. */
function isContainer(item: object): boolean {
  const prototype = Object.getPrototypeOf(item)
  if (prototype === Object.prototype || prototype === Array.prototype) return true
  return prototype === null || item instanceof Map || item instanceof Set
}

/**
 * Returns the shape of an object with the fields next to its body. Null for plain data, and for an object with a
 * reference.
 */
function shapeIn(item: object, { keys, items }: Contents, parentKey: unknown): ShapeFound | null {
  if (item instanceof Map || !keys?.some((key, i) => mayHoldBody(key, items[i]))) return null
  const fields = Object.fromEntries(keys.map((key, i) => [key, items[i]])) as Fields
  const shape = carriesRef(fields.assetRef) ? null : shapeOf(fields, parentKey)
  if (!shape) return null
  const dropped = new Set([...shape.keys, ...copiedKeys(fields)])
  if (shape.typeKey !== null) dropped.add(shape.typeKey)
  const kept = Object.entries(fields).filter(([key]) => !dropped.has(key) && !RESULT_KEYS.has(key))
  return { ...shape, rest: Object.fromEntries(kept) }
}

function classifyNumbers(view: ArrayBufferView): Classified {
  const numbers = view as ArrayBufferView & ArrayLike<number | bigint>
  return numbers.length > MAX_LISTED
    ? { type: 'body', body: { type: 'numbers', view } }
    : { type: 'json', json: Array.from(numbers) }
}

/** Returns whether a value has fields or items. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
