import { ByrefError } from '../errors.ts'
import { evaluateVariable, variablesIn } from '../refs/evaluate-variable.ts'
import { fieldKeys, MISSING } from '../refs/field-path.ts'
import { type MissingVariable, VariableError } from '../refs/variable-error.ts'
import { formatLabel, parseVariableRef, type VariableRef } from '../refs/variable-ref.ts'
import { kindOf, methodOf } from './data-block.ts'
import { WIDE } from './draft.ts'
import { copyJson, type JsonObject, type JsonValue } from './json.ts'
import type { PatchOperation } from './json-patch.ts'
import { toPointer } from './json-patch.ts'
import type { DataBlock, Message } from './message.ts'
import { checkSchema, type ValidateSchema } from './schema-check.ts'
import { type MessageInput, toMessage } from './to-message.ts'
import { childOf, isContainer, NOW, Slot, toJson, valueAt } from './versioned.ts'
import { applyWrite, checkWrite, type Write } from './write.ts'
import { writePatch } from './write-patch.ts'

/** A point in the conversation: after the message of this id, or after the last one up to this time (ISO 8601 or Date). */
export type BoardPoint = string | Date

/** Options of a read. */
export interface ReadOptions {
  /** The instance that is looked at first; then the global value of the kind. */
  instance?: string
  /** Default: now. */
  at?: BoardPoint
}

/** What the board holds for one identity. Frozen JSON. */
export interface BoardEntry {
  kind: string
  instance?: string
  /** Absent where nothing was written; null is a value. */
  data?: JsonValue
  schema?: JsonObject
  description?: string
  /** The id of the last message of this identity. */
  messageId: string
}

/** The whole board as one JSON object by label (`user`, `user#①`): what `STATE_SNAPSHOT` carries. */
export type BoardSnapshot = { readonly [label: string]: JsonObject }

/** Options of {@link createBoard}. */
export interface BoardOptions {
  /** Checks writes against schemas. Without it nothing is checked. */
  validate?: ValidateSchema
  /** Which messages are about the same thing. Default: those of one kind and instance. */
  identity?: (block: DataBlock) => string
}

/** The data messages of a conversation, merged (data-messages.md, spec D). */
export interface Board {
  /**
   * Takes the next message of the conversation, of any type, and gives its stored form. Throws `invalid_data` or
   * `schema_violation` for a write that cannot be done; the board is then as it was.
   */
  append(message: MessageInput): Message
  /**
   * What appending the message would change, as a JSON Patch of {@link Board.snapshot} (`STATE_DELTA`): throws what
   * `append` would throw, and changes nothing.
   */
  preview(message: MessageInput): PatchOperation[]
  /**
   * The value of a variable reference such as `†state.user.name`, frozen. Throws `VariableError` where there is none,
   * `invalid_reference` for text that is no reference, `message_not_found` for an unknown point.
   */
  read(ref: string, options?: ReadOptions): unknown
  /** Whether {@link Board.read} would give a value. */
  has(ref: string, options?: ReadOptions): boolean
  /** Every identity, in the order of their first messages. */
  entries(options?: { at?: BoardPoint }): BoardEntry[]
  snapshot(options?: { at?: BoardPoint }): BoardSnapshot
}

interface Identity {
  label: string
  kind: string
  instance?: string
  value: Slot
  schema: Slot
  description: Slot
  messageId: Slot
}

/** What a data message does. */
interface Plan {
  key: string
  block: DataBlock
  known: Identity | undefined
  write: Write | null
  schema: JsonObject | null
}

/**
 * A board with these messages on it. Reading a variable costs the length of its path, now and at any past point, and
 * appending costs the message's own size, however long the conversation is.
 */
export function createBoard(
  messages: readonly MessageInput[] = [],
  { validate, identity = labelOf }: BoardOptions = {},
): Board {
  const identities = new Map<string, Identity>()
  const timeline = createTimeline()

  function plan(block: DataBlock): Plan {
    const key = identity(block)
    const known = identities.get(key)
    const schema = block.schema ? (copyJson(block.schema) as JsonObject) : null
    const write = toWrite(block)
    if (write) {
      const value = known ? known.value.now : MISSING
      checkWrite(value, write)
      const binding = schema ?? schemaFor(known, block)
      if (binding && validate) checkSchema(value, write, { schema: binding, validate })
    }
    return { key, block, known, write, schema }
  }

  /** An instance without a schema of its own is bound by the global one of its kind. */
  function schemaFor(known: Identity | undefined, block: DataBlock): JsonObject | null {
    const { _instance, ...global } = block
    const shared = identities.get(identity(global))
    const schemas = [known, shared].map((entry) => (entry ? entry.schema.now : MISSING))
    return (schemas.find(isContainer) as JsonObject | undefined) ?? null
  }

  function apply({ key, block, known, write, schema }: Plan, message: Message): void {
    const position = timeline.add(message)
    const entry = known ?? born(block, key)
    identities.set(key, entry)
    if (write) {
      const value = applyWrite(entry.value.now, write, { position, wide: WIDE })
      entry.value.set(value, position)
    }
    if (schema) entry.schema.set(schema, position)
    if (block.description !== undefined) entry.description.set(block.description, position)
    entry.messageId.set(message.id, position)
  }

  function find(
    ref: VariableRef,
    instance: string | undefined,
    position: number,
  ): JsonValue | typeof MISSING {
    for (const entry of candidates(ref, instance)) {
      const value = valueAt(entry.value.at(position), ref.path, position)
      if (value !== MISSING) return toJson(value, position)
    }
    return MISSING
  }

  /** Who may answer for a reference: the instance it names, else the one that is asked for and then the global one. */
  function candidates({ kind, instance }: VariableRef, asked: string | undefined): Identity[] {
    const instances =
      instance === undefined && asked !== undefined ? [asked, undefined] : [instance]
    return instances.flatMap((_instance) => {
      const block: DataBlock = { type: 'data', kind }
      if (_instance !== undefined) block._instance = _instance
      return identities.get(identity(block)) ?? []
    })
  }

  function explain(
    ref: VariableRef,
    instance: string | undefined,
    position: number,
  ): MissingVariable {
    const entry = candidates(ref, instance).find(({ value }) => value.at(position) !== MISSING)
    if (!entry) {
      const known = [...identities.values()].filter(({ value }) => value.at(position) !== MISSING)
      const first = known.slice(0, 20).map(({ label }) => `†${label}`)
      return { ref, depth: -1, keys: { first, count: known.length } }
    }
    let value = entry.value.at(position)
    let depth = 0
    for (const key of ref.path) {
      const child = childOf(value, key, position)
      if (child === MISSING) break
      value = child
      depth++
    }
    const there: VariableRef = { type: 'variable', kind: entry.kind, path: ref.path }
    if (entry.instance !== undefined) there.instance = entry.instance
    return {
      ref: there,
      depth,
      keys: value === MISSING ? null : fieldKeys(toJson(value, position)),
    }
  }

  function evaluate(text: string, { instance, at }: ReadOptions) {
    const expression = parseVariableRef(text)
    if (!expression) {
      throw new ByrefError(
        'invalid_reference',
        `${JSON.stringify(text)} is no variable reference: write †kind.path, such as †state.user.name.`,
      )
    }
    const position = timeline.positionOf(at)
    const value = evaluateVariable(expression, (ref) => find(ref, instance, position))
    return { value, expression, position }
  }

  const board: Board = {
    append(input) {
      const message = toMessage(input)
      if (message.content_type === 'data') apply(plan(message.content as DataBlock), message)
      else timeline.add(message)
      return message
    },
    preview(input) {
      const message = toMessage(input)
      if (message.content_type !== 'data') return []
      return toPatch(plan(message.content as DataBlock), message)
    },
    read(ref, options = {}) {
      const { value, expression, position } = evaluate(ref, options)
      if (value !== MISSING) return value
      const refs = variablesIn(expression)
      throw new VariableError(refs.map((one) => explain(one, options.instance, position)))
    },
    has(ref, options = {}) {
      return evaluate(ref, options).value !== MISSING
    },
    entries({ at } = {}) {
      const position = timeline.positionOf(at)
      return [...identities.values()].flatMap((entry) => toEntry(entry, position) ?? [])
    },
    snapshot({ at } = {}) {
      const position = timeline.positionOf(at)
      const pairs = [...identities.values()].flatMap((entry) => {
        const found = toEntry(entry, position)
        return found ? [[entry.label, found]] : []
      })
      return Object.fromEntries(pairs) as BoardSnapshot
    },
  }

  for (const message of messages) board.append(message)
  return board
}

function labelOf(block: DataBlock): string {
  return formatLabel(kindOf(block), block._instance)
}

function born(block: DataBlock, label: string): Identity {
  const entry: Identity = {
    label,
    kind: kindOf(block),
    value: new Slot(MISSING, 0),
    schema: new Slot(MISSING, 0),
    description: new Slot(MISSING, 0),
    messageId: new Slot(MISSING, 0),
  }
  if (block._instance !== undefined) entry.instance = block._instance
  return entry
}

/** The write of a block; null if it only declares. */
function toWrite(block: DataBlock): Write | null {
  const { data, _path: path = [], _outputMethod, _instance: instance } = block
  if (data === undefined && path.length === 0 && _outputMethod === undefined) return null
  const write: Write = { kind: kindOf(block), path, method: methodOf(block) }
  if (instance !== undefined) write.instance = instance
  if (data !== undefined) write.data = copyJson(data)
  return write
}

function toEntry(identity: Identity, position: number): BoardEntry | null {
  const messageId = identity.messageId.at(position)
  if (typeof messageId !== 'string') return null
  const data = identity.value.at(position)
  const schema = identity.schema.at(position)
  const description = identity.description.at(position)
  const entry: BoardEntry = { kind: identity.kind, messageId }
  if (identity.instance !== undefined) entry.instance = identity.instance
  if (data !== MISSING) entry.data = toJson(data, position)
  if (schema !== MISSING) entry.schema = schema as JsonObject
  if (typeof description === 'string') entry.description = description
  return entry
}

function toPatch({ key, block, known, write, schema }: Plan, message: Message): PatchOperation[] {
  const head = { kind: kindOf(block), messageId: message.id, ...instanceOf(block) }
  const operations: PatchOperation[] = [
    known
      ? { op: 'replace', path: toPointer([key, 'messageId']), value: message.id }
      : { op: 'add', path: toPointer([key]), value: head },
  ]
  const set = (field: string, value: JsonValue | null | undefined) => {
    if (value !== null && value !== undefined) {
      operations.push({ op: 'add', path: toPointer([key, field]), value })
    }
  }
  if (write) operations.push(...writePatch(known ? known.value.now : MISSING, write, [key, 'data']))
  set('schema', schema)
  set('description', block.description)
  return operations
}

function instanceOf({ _instance }: DataBlock): { instance?: string } {
  return _instance === undefined ? {} : { instance: _instance }
}

/** Positions of messages: by id, and by time. A message whose clock ran behind counts as of the one before it. */
function createTimeline() {
  const positions = new Map<string, number>()
  const times: number[] = []

  function atTime(time: number): number {
    let low = 0
    let high = times.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((times[middle] as number) <= time) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    /** The position of the message, from 1. */
    add({ id, timestamp }: Message): number {
      times.push(Math.max(Date.parse(timestamp), times.at(-1) ?? Number.NEGATIVE_INFINITY))
      positions.set(id, times.length)
      return times.length
    },
    positionOf(point: BoardPoint | undefined): number {
      if (point === undefined) return NOW
      const known = typeof point === 'string' ? positions.get(point) : undefined
      if (known !== undefined) return known
      const time = point instanceof Date ? point.getTime() : Date.parse(point)
      if (!Number.isNaN(time)) return atTime(time)
      throw new ByrefError(
        'message_not_found',
        `${JSON.stringify(point)} is neither the id of a message on this board nor a time.`,
      )
    },
  }
}
