import { ByrefError } from '../../core/errors.ts'
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
import { binaryBody, cancelFound, type FoundBody, sizeOf } from './found-body.ts'
import { mayBecomeAsset } from './may-hold-assets.ts'
import {
  type Contents,
  contentsOf,
  createNode,
  fieldNamed,
  keyAt,
  ListTooLongError,
  originOf,
  readableContents,
  type TreeNode,
} from './value-tree.ts'

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
export type Leaf = Finding | FoundNumbers

/** A value after the walk. */
export interface FoundAssets {
  /** The first is a list around the value. */
  nodes: TreeNode<Leaf>[]
  /** In walk order. */
  findings: Finding[]
}

type Node = TreeNode<Leaf>

/** The limits of a value. */
interface FindLimits {
  depth: number
  items: number
  smallItems: number
}

/** Bodies below this size are small: the record of an asset takes more bytes. */
const SMALL_BYTES = 1_024

/**
 * Finds everything in a value that becomes an asset, and typed arrays, which become lists. It is iterative, so neither
 * depth nor cycles can break it. It changes nothing, and reads each field once unless another field of the object
 * throws. An object with `toJSON` counts as its result, as in the log. A field that throws is a body that cannot be
 * saved. Keys are never examined. If it throws, the streams that it found are ended.
 *
 * @throws ByrefError `too_deep` beyond `depth` levels, `too_many_assets` beyond `items` and `smallItems`,
 * `result_too_large` for a list that JSON cannot represent
 */
export function findAssets(value: unknown, limits: FindLimits): FoundAssets {
  const nodes = new Map<object, Node>()
  const findings: Finding[] = []
  let count = 0
  let small = 0

  function enter(item: object, contents: Contents, parent: Node | null, position: number): Node {
    const node = createNode<Leaf>(item, contents, parent, position)
    if (node.level > limits.depth) throw tooDeep(limits.depth)
    nodes.set(item, node)
    return node
  }

  function addFinding(finding: Finding): Finding {
    findings.push(finding)
    const sizes = finding.type === 'text' ? finding.urls.map(lengthOf) : [sizeOf(finding.body)]
    count += sizes.length
    small += sizes.filter((size) => size > 0 && size < SMALL_BYTES).length
    if (count > limits.items) throw tooMany(`${limits.items} assets (limits.items)`)
    if (small > limits.smallItems) {
      throw tooMany(`${limits.smallItems} assets of less than 1 kB (limits.smallItems)`)
    }
    return finding
  }

  function visitObject(item: object, parent: Node, position: number, isCarrier: boolean): void {
    const known = nodes.get(item)
    if (known) {
      known.otherParents ??= []
      known.otherParents.push(parent)
      return
    }
    const seen = classify(item, keyAt(parent, position))
    if (seen?.type === 'contents') visitContents(item, seen, parent, position)
    else if (seen?.type === 'numbers') setLeaf(parent, position, seen)
    else if (seen?.type === 'text' && !isCarrier) visitText(seen.text, parent, position)
    else if (seen?.type === 'body' && !(isCarrier && isCopy(seen.body))) {
      const { body } = seen
      const origin = originOf(parent, position)
      const found: Finding = { type: 'value', body, mime: null, name: null, rest: {}, origin }
      setLeaf(parent, position, addFinding(found))
    }
  }

  function visitContents(
    item: object,
    { contents, shape }: SeenContents,
    parent: Node,
    position: number,
  ): void {
    if (!shape) {
      enter(item, contents, parent, position)
      return
    }
    const { body, mime, name, rest } = shape
    const origin = originOf(parent, position)
    const finding = addFinding({ type: 'value', body, mime, name, rest, origin })
    if (!Object.values(rest).some(isToWalk)) setLeaf(parent, position, finding)
    else enter(item, contentsOf(rest), parent, position).own = finding
  }

  function visitText(text: string, parent: Node, position: number): void {
    const found = mayBecomeAsset(text) ? findInText(text, parent, position) : null
    if (found) setLeaf(parent, position, addFinding(found))
  }

  function visitItems(node: Node): void {
    const { items } = node
    const isCarrier = carriesRef(fieldNamed(node, 'assetRef'))
    for (let i = 0; i < items.length; i++) {
      const item = items[i]
      if (isObject(item)) visitObject(item, node, i, isCarrier)
      else if (typeof item === 'string' && !isCarrier) visitText(item, node, i)
    }
  }

  try {
    const around = [value]
    enter(around, contentsOf(around), null, 0)
    // A Map also iterates entries that are added during the walk, so this ends when all nodes were seen.
    for (const node of nodes.values()) visitItems(node)
  } catch (error) {
    endStreams(findings, error)
    throw error
  }
  return { nodes: [...nodes.values()], findings }
}

/** Ends the streams among findings that nobody has started to read. */
export function endStreams(findings: readonly Finding[], reason: unknown): void {
  for (const finding of findings) if (finding.type === 'value') cancelFound(finding.body, reason)
}

function findInText(text: string, parent: Node, position: number): Finding | null {
  const origin = originOf(parent, position)
  const about = { type: 'value', name: null, rest: {}, origin } as const
  if (isBase64File(text)) return { ...about, body: { type: 'base64', text }, mime: null }
  const url = readDataUrl(text)
  const whole: Finding | null = url && {
    ...about,
    body: { type: 'data-url', text },
    mime: url.mime,
  }
  if (parseDataUrl(text) || (url && isNoSentence(url))) return whole
  const urls = findDataUrls(text)
  if (urls.length > 0) return { type: 'text', text, urls, origin }
  // Base64 that is invalid from its first character.
  return url?.base64 ? whole : null
}

function setLeaf(node: Node, position: number, leaf: Leaf): void {
  node.leaves ??= new Map()
  node.leaves.set(position, leaf)
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

function tooDeep(depth: number): ByrefError {
  return new ByrefError(
    'too_deep',
    `The result is nested more than ${depth} levels deep (limits.depth).`,
  )
}

function tooMany(what: string): ByrefError {
  return new ByrefError('too_many_assets', `The result holds more than ${what}.`)
}

function lengthOf({ start, end }: DataUrlMatch): number {
  return end - start
}

/** Maximum length of a typed array that becomes a list. Longer ones are bytes. */
const MAX_LISTED = 4096

/** A typed array of numbers. A list has the same information, and JSON can represent it. */
interface FoundNumbers {
  type: 'numbers'
  list: readonly (number | bigint)[]
}

/** How the walk treats an object. */
type Seen =
  | SeenContents
  | FoundNumbers
  | { type: 'body'; body: FoundBody }
  | { type: 'text'; text: string }

/** A container, or an object that represents a body. */
interface SeenContents {
  type: 'contents'
  contents: Contents
  shape: ShapeFound | null
}

/** A shape, and the fields next to its body. */
type ShapeFound = AssetShape & { rest: Fields }

/** Keys of a reference, or of the error in its place. They override the object's own keys. */
const RESULT_KEYS: ReadonlySet<string> = new Set(['assetRef', 'mimeType', 'kind', 'assetError'])

/** A field that throws when it is read. */
class Unreadable {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

/**
 * Classifies an object under `key`. Returns null if it stays unchanged. Uses `toJSON` if it has one. Never throws
 * otherwise: an object that cannot be read is a body that cannot be saved.
 *
 * @throws ListTooLongError
 */
function classify(item: object, key: unknown): Seen | null {
  try {
    return see(item, key)
  } catch (error) {
    if (error instanceof ListTooLongError) throw error
    return { type: 'body', body: { type: 'unreadable', error } }
  }
}

function see(item: object, key: unknown): Seen | null {
  if (!isContainer(item)) {
    const seen = seeBinary(item)
    if (seen || item instanceof Date) return seen
  }
  const { toJSON } = item as { toJSON?: unknown }
  if (typeof toJSON !== 'function') return seeContents(item, key)
  const json = jsonOf(item, key)
  if (typeof json === 'string') return { type: 'text', text: json }
  return isObject(json) ? (seeBinary(json) ?? seeContents(json, key)) : null
}

/** Returns null if `toJSON` throws. The same error occurs when JSON is made of the value. */
function jsonOf(item: object, key: unknown): unknown {
  try {
    return (item as { toJSON(key: string): unknown }).toJSON(String(key))
  } catch {
    return null
  }
}

function seeBinary(item: object): Seen | null {
  if (item instanceof Unreadable) {
    return { type: 'body', body: { type: 'unreadable', error: item.error } }
  }
  const body = binaryBody(item)
  if (body) return { type: 'body', body }
  return ArrayBuffer.isView(item) ? seeNumbers(item) : null
}

function seeContents(item: object, key: unknown): SeenContents {
  const contents = readContents(item)
  return { type: 'contents', contents, shape: shapeIn(item, contents, key) }
}

/** Reads the contents of an object. A field that throws is replaced by an {@link Unreadable}. */
function readContents(item: object): Contents {
  try {
    return contentsOf(item)
  } catch (error) {
    if (error instanceof ListTooLongError) throw error
    return readableContents(item, (error) => new Unreadable(error))
  }
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

function seeNumbers(view: ArrayBufferView): Seen {
  const numbers = view as ArrayBufferView & ArrayLike<number | bigint>
  return numbers.length > MAX_LISTED
    ? { type: 'body', body: { type: 'numbers', view } }
    : { type: 'numbers', list: Array.from(numbers) }
}

/** Returns whether a value has fields or items. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
