import { putKey } from '../../content/json.ts'
import { ByrefError } from '../../errors.ts'
import { mayHoldDataUrl, parseDataUrl } from '../bodies/data-url.ts'
import { type DataUrlMatch, findDataUrls } from '../bodies/find-data-urls.ts'
import { bodyOf, carriesRef, DATA_KEYS, type FoundBody, shapeOf } from './asset-shapes.ts'

/** A value that becomes a reference. */
export interface FoundValue {
  type: 'value'
  body: FoundBody
  /** The type that was claimed beside it. */
  mime: string | null
  name: string | null
  /** What stays beside the reference. */
  rest: Fields
  /** JSON Pointer (RFC 6901). */
  origin: string
}

/** A text with data URLs in it, which become embedded references. */
export interface FoundText {
  type: 'text'
  text: string
  urls: DataUrlMatch[]
  origin: string
}

export type Finding = FoundValue | FoundText

/** A container that was walked. */
export interface Node {
  value: object
  /** What of it was walked: itself, or what stays beside the bytes of a shape. */
  fields: object
  /** The shape that the container itself is. */
  own: FoundValue | null
  /** Findings directly in it, by key; in a list or a Set by position. */
  leaves: Map<unknown, Finding> | null
  /** How the walk came here first; null for the list around the value. */
  parent: Node | null
  /** Other ways that lead here. */
  otherParents: Node[] | null
  key: unknown
  level: number
}

type Fields = Record<string, unknown>

/** Values that hold nothing to look at. */
const LEFT_ALONE = Symbol('left alone')

/**
 * Finds everything in a value that becomes an asset. Iterative, so that neither depth nor cycles end it; changes nothing.
 * The first node is a list around the value.
 *
 * @throws ByrefError `too_deep` beyond `depth` levels, `too_many_assets` beyond `items`
 */
export function findAssets(value: unknown, limits: { depth: number; items: number }): Node[] {
  const nodes = new Map<object, Node>()
  let count = 0

  function visit(item: unknown, node: Node, key: unknown): void {
    if (typeof item === 'string') {
      if (!mayHoldDataUrl(item)) return
      const finding = findInText(item, node, key)
      if (finding) addLeaf(node, key, finding)
    } else if (typeof item === 'object' && item !== null) {
      visitObject(item, node, key)
    }
  }

  function visitObject(item: object, parent: Node, key: unknown): void {
    const known = nodes.get(item)
    if (known) {
      known.otherParents ??= []
      known.otherParents.push(parent)
      return
    }
    const found = Array.isArray(item) ? null : findValue(item, parent, key)
    if (found === LEFT_ALONE) return
    if (found && !Object.values(found.rest).some(isObject)) {
      addLeaf(parent, key, found)
      return
    }
    const node = addNode(item, parent, key)
    if (!found) return
    addCount(found)
    node.own = found
    node.fields = found.rest
  }

  function addNode(item: object, parent: Node | null, key: unknown): Node {
    const level = parent ? parent.level + 1 : -1
    if (level > limits.depth) {
      throw new ByrefError(
        'too_deep',
        `The result is nested more than ${limits.depth} levels deep (limits.depth).`,
      )
    }
    const node: Node = {
      value: item,
      fields: item,
      own: null,
      leaves: null,
      parent,
      otherParents: null,
      key,
      level,
    }
    nodes.set(item, node)
    return node
  }

  function addLeaf(node: Node, key: unknown, finding: Finding): void {
    addCount(finding)
    node.leaves ??= new Map()
    node.leaves.set(key, finding)
  }

  function addCount(finding: Finding): void {
    count += finding.type === 'text' ? finding.urls.length : 1
    if (count <= limits.items) return
    throw new ByrefError(
      'too_many_assets',
      `The result holds more than ${limits.items} assets (limits.items).`,
    )
  }

  addNode([value], null, null)
  // A Map yields what is added while it is walked: this ends when everything was seen.
  for (const node of nodes.values()) visitFields(node, visit)
  return [...nodes.values()]
}

function visitFields(node: Node, visit: (item: unknown, node: Node, key: unknown) => void): void {
  const { fields } = node
  if (Array.isArray(fields)) {
    for (let i = 0; i < fields.length; i++) visit(fields[i], node, i)
  } else if (fields instanceof Map) {
    for (const [key, item] of fields) visit(item, node, key)
  } else if (fields instanceof Set) {
    let i = 0
    for (const item of fields) visit(item, node, i++)
  } else {
    const own = fields as Fields
    const skipped = carriesRef(own)
    for (const key of Object.keys(own)) {
      const item = own[key]
      if (!skipped || (isObject(item) && !bodyOf(item))) visit(item, node, key)
    }
  }
}

function findInText(text: string, parent: Node, key: unknown): Finding | null {
  const url = parseDataUrl(text)
  if (url) {
    const body: FoundBody = { type: 'data-url', text }
    const origin = originOf(parent, key)
    return { type: 'value', body, mime: url.mime, name: null, rest: {}, origin }
  }
  const urls = findDataUrls(text)
  return urls.length > 0 ? { type: 'text', text, urls, origin: originOf(parent, key) } : null
}

/** What an object that is no list is; most are plain, so that this is asked first. */
function findValue(
  item: object,
  parent: Node,
  key: unknown,
): FoundValue | typeof LEFT_ALONE | null {
  const prototype = Object.getPrototypeOf(item)
  if (prototype === Object.prototype || prototype === null) return findShape(item, parent, key)
  if (item instanceof Map || item instanceof Set) return null
  const body = findBody(item, parent, key)
  if (body) return body
  if (item instanceof Date || ArrayBuffer.isView(item)) return LEFT_ALONE
  return findShape(item, parent, key)
}

function findBody(item: object, parent: Node, key: unknown): FoundValue | null {
  const body = bodyOf(item)
  if (!body) return null
  const origin = originOf(parent, key)
  return { type: 'value', body, mime: null, name: null, rest: {}, origin }
}

function findShape(item: object, parent: Node, key: unknown): FoundValue | null {
  const fields = item as Fields
  const keys = Object.keys(fields)
  let hasData = false
  for (const one of keys) if (DATA_KEYS.has(one)) hasData = true
  if (!hasData || carriesRef(fields)) return null
  const shape = shapeOf(fields, key)
  if (!shape) return null
  const rest: Fields = {}
  for (const one of keys) {
    if (!shape.keys.includes(one)) putKey(rest, one, fields[one])
  }
  const { body, mime, name } = shape
  return { type: 'value', body, mime, name, rest, origin: originOf(parent, key) }
}

/** The pointer to a key of a node, by the way that the walk came first. */
function originOf(node: Node, key: unknown): string {
  const keys: unknown[] = []
  let next = key
  for (let at = node; at.parent; at = at.parent) {
    keys.push(next)
    next = at.key
  }
  return keys
    .reverse()
    .map((one) => `/${String(one).replace(/~/g, '~0').replace(/\//g, '~1')}`)
    .join('')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
