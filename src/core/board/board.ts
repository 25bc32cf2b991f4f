import {
  checkMethods,
  checkOptions,
  is,
  type MethodTables,
  type OptionTable,
} from '../check-options.ts'
import { ByrefError } from '../errors.ts'
import { isoTime } from '../iso-time.ts'
import { copyJson } from '../json/copy-json.ts'
import { isPlainObject, type JsonObject, type JsonValue } from '../json/json.ts'
import { blockOf, identityOf, kindOf, methodOf } from '../messages/data-block.ts'
import type { DataBlock, Message } from '../messages/message.ts'
import { type MessageInput, toMessage } from '../messages/to-message.ts'
import type { FieldKey } from '../refs/field-key.ts'
import { explainMissing, MISSING } from '../refs/field-path.ts'
import {
  evaluateVariable,
  formatVariable,
  parseVariableRef,
  VariableError,
  type VariableExpression,
  type VariableRef,
  variablesIn,
} from '../refs/variable-ref.ts'
import { checkSchema, type ValidateSchema } from './schema-check.ts'
import { childOf, countWhile, type Maybe, NOW, Slot, toJson, valueAt } from './versioned.ts'
import { applyWrite, checkWrite, WIDE, type Write } from './write.ts'

/**
 * A point in the conversation: after the message with this id, or after the last message up to this time (ISO
 * 8601 or Date).
 */
export type BoardPoint = string | Date

/** Options of a read. */
export interface ReadOptions {
  /** The instance to read first; then the global value of the kind. */
  instance?: string
  /** Default: now. */
  at?: BoardPoint
}

/** The state of one identity, as frozen JSON. */
export interface BoardEntry {
  kind: string
  instance?: string
  /** Absent if nothing was written. Null is a value. */
  data?: JsonValue
  schema?: JsonObject
  description?: string
  /** The id of the last message for this identity. */
  messageId: string
}

/** The whole board as one JSON object, by identity (`user`, `user#①`). This is AG-UI's `STATE_SNAPSHOT`. */
export type BoardSnapshot = { readonly [identity: string]: JsonObject }

/** Options of {@link createBoard}. */
export interface BoardOptions {
  /** Validates writes against schemas. Default: no validation. */
  validate?: ValidateSchema
  /** Returns the identity of a block. Default: its kind and instance. */
  identity?: (block: DataBlock) => string
}

const BOARD_OPTIONS: OptionTable<BoardOptions> = {
  validate: is.callback(),
  identity: is.callback(),
}
const AT = { at: is.either(is.string, is.having<Date>('a Date', 'getTime')) }
const BOARD_METHODS: MethodTables<Board> = {
  ...is.all({ 1: { ...AT, instance: is.string }, throws: true } as const, 'read', 'has'),
  ...is.all({ 0: AT, throws: true } as const, 'entries', 'snapshot'),
}

/** The merged data of a conversation. */
export interface Board {
  /**
   * Adds the next message of the conversation, of any type, and returns its stored form. Throws `invalid_data`
   * or `schema_violation` for an invalid write, and then leaves the board unchanged.
   */
  append(message: MessageInput): Message
  /**
   * Returns the frozen value of a variable reference such as `†state.user.name`. Throws `VariableError` if
   * there is none, `invalid_reference` if the text is not a variable reference, `message_not_found` for an
   * unknown point.
   */
  read(ref: string, options?: ReadOptions): unknown
  /** Whether {@link Board.read} would return a value. */
  has(ref: string, options?: ReadOptions): boolean
  /** Returns every identity, in the order of their first messages. */
  entries(options?: { at?: BoardPoint }): BoardEntry[]
  /** Returns the entries by identity. `jsonPatch` of two snapshots is the difference between them. */
  snapshot(options?: { at?: BoardPoint }): BoardSnapshot
}

interface Identity {
  name: string
  kind: string
  instance?: string
  /** The fields of the entry that change over time. */
  fields: Record<Field, Slot>
}

type Field = 'data' | 'schema' | 'description' | 'messageId'

/**
 * Creates a board with these messages. Reading a variable, now or at a past point, takes time proportional to
 * its path. Appending takes time proportional to the message's size. Neither depends on the conversation's
 * length.
 */
export function createBoard(messages: readonly MessageInput[] = [], options?: BoardOptions): Board {
  const { validate, identity = identityOf } = checkOptions('createBoard', options, BOARD_OPTIONS)
  const identities = new Map<string, Identity>()
  const timeline = createTimeline()

  /** Adds a data message to its identity. @throws ByrefError `invalid_data`, `schema_violation` */
  function addData(message: Message, block: DataBlock): void {
    const name = identity(block)
    const entry = identities.get(name) ?? newIdentity(name, block)
    const { fields } = entry
    const schema = block.schema ? copyJson(block.schema) : MISSING
    const value = fields.data.at(NOW)
    const write = toWrite(block)
    if (write) {
      checkWrite(value, write)
      // The global schema of the kind applies to an instance without a schema of its own.
      const shared = identities.get(identity({ ...block, _instance: undefined }))
      const schemas = [entry, shared].map((one) => one?.fields.schema.at(NOW))
      const bound = [schema, ...schemas].find(isPlainObject) as JsonObject | undefined
      if (bound && validate) checkSchema(value, write, { schema: bound, validate })
    }
    // Nothing below throws, so a rejected message leaves no trace.
    const position = timeline.add(message)
    if (write) fields.data.set(applyWrite(value, write, { position, wide: WIDE }), position)
    if (schema !== MISSING) fields.schema.set(schema, position)
    if (block.description !== undefined) fields.description.set(block.description, position)
    fields.messageId.set(message.id, position)
    identities.set(name, entry)
  }

  /**
   * Returns the identities that may answer a reference: the instance that it names; otherwise the requested
   * instance, then the global one.
   */
  function candidates({ kind, instance }: VariableRef, asked: string | undefined): Identity[] {
    return [instance ?? asked, instance].flatMap((_instance) => {
      return identities.get(identity({ type: 'data', kind, _instance })) ?? []
    })
  }

  /** Returns the stored value of a reference at a position, or {@link MISSING}. */
  function find(ref: VariableRef, instance: string | undefined, position: number): Maybe {
    for (const { fields } of candidates(ref, instance)) {
      const value = valueAt(fields.data.at(position), ref.path, position)
      if (value !== MISSING) return value
    }
    return MISSING
  }

  /** Returns why a reference has no value at a position. */
  function explain(ref: VariableRef, instance: string | undefined, position: number): string {
    const has = ({ fields }: Identity) => fields.data.at(position) !== MISSING
    const entry = candidates(ref, instance).find(has)
    if (entry) return explainField(entry, ref.path, position)
    const names = [...identities.values()].filter(has).map(({ name }) => `†${name}`)
    const shown = names.slice(0, 20)
    if (shown.length < names.length) shown.push('…')
    return `${formatVariable(ref, [])} has no value. Data: ${shown.join(', ') || 'none yet'}.`
  }

  function evaluate(
    expression: VariableExpression,
    { instance, at }: ReadOptions,
  ): { value: Maybe; position: number } {
    const position = timeline.positionOf(at)
    const value = evaluateVariable(expression, (ref) => find(ref, instance, position))
    return { value, position }
  }

  function written(at: BoardPoint | undefined): [string, BoardEntry & JsonObject][] {
    const position = timeline.positionOf(at)
    const entries: [string, BoardEntry & JsonObject][] = []
    for (const { name, fields, ...entry } of identities.values()) {
      const found: Record<string, JsonValue> = entry
      for (const [field, slot] of Object.entries(fields)) {
        const value = slot.at(position)
        if (value !== MISSING) found[field] = toJson(value, position)
      }
      if (isWritten(found)) entries.push([name, found])
    }
    return entries
  }

  const board: Board = {
    append(input) {
      const message = toMessage(input)
      const block = blockOf(message)
      if (block) addData(message, block)
      else timeline.add(message)
      return message
    },
    read(ref, options = {}) {
      const expression = parsedVariable(ref)
      const { value, position } = evaluate(expression, options)
      if (value !== MISSING) return toJson(value, position)
      const reasons = variablesIn(expression).map((one) => explain(one, options.instance, position))
      throw new VariableError(reasons.join(' '))
    },
    has: (ref, options = {}) => evaluate(parsedVariable(ref), options).value !== MISSING,
    entries: ({ at } = {}) => written(at).map(([, entry]) => entry),
    snapshot: ({ at } = {}) => Object.fromEntries(written(at)),
  }
  for (const message of messages) board.append(message)
  return checkMethods('board', board, BOARD_METHODS)
}

/** Returns why an entry has no value at a path. */
function explainField(entry: Identity, fields: readonly FieldKey[], position: number): string {
  let value = entry.fields.data.at(position)
  const path: FieldKey[] = []
  for (const key of fields) {
    const child = childOf(value, key, position)
    if (child === MISSING) {
      return explainMissing(formatVariable(entry, path), toJson(value, position), key)
    }
    value = child
    path.push(key)
  }
  return ''
}

/** @throws ByrefError `invalid_reference` */
function parsedVariable(text: string): VariableExpression {
  const expression = parseVariableRef(text)
  if (expression) return expression
  throw new ByrefError(
    'invalid_reference',
    `${JSON.stringify(text).slice(0, 100)} is not a variable reference such as †state.user.name.`,
  )
}

function isWritten(entry: JsonObject): entry is BoardEntry & JsonObject {
  return Boolean(entry.messageId)
}

function newIdentity(name: string, block: DataBlock): Identity {
  const slot = () => new Slot(MISSING, 0)
  const fields = { messageId: slot(), data: slot(), schema: slot(), description: slot() }
  return { name, ...headOf(block), fields }
}

function headOf(block: DataBlock): { kind: string; instance?: string } {
  const kind = kindOf(block)
  return block._instance === undefined ? { kind } : { kind, instance: block._instance }
}

/** Returns the write of a block. Null if it only has a schema or a description. */
function toWrite(block: DataBlock): Write | null {
  const { data, _path: path = [], _outputMethod } = block
  if (data === undefined && path.length === 0 && _outputMethod === undefined) return null
  const write = { ...headOf(block), path, method: methodOf(block) }
  return data === undefined ? write : { ...write, data: copyJson(data) }
}

/**
 * Positions of messages, by id and by time. A timestamp that is earlier than the previous message's counts as
 * equal to it.
 */
function createTimeline() {
  const positions = new Map<string, number>()
  const times: number[] = []
  return {
    /** Returns the position of the message, starting at 1. */
    add({ id, timestamp }: Message): number {
      times.push(Math.max(isoTime(timestamp), times.at(-1) ?? -Infinity))
      positions.set(id, times.length)
      return times.length
    },
    positionOf(point: BoardPoint | undefined): number {
      if (point === undefined) return NOW
      const position = positions.get(point as string)
      if (position !== undefined) return position
      const time = point instanceof Date ? point.getTime() : isoTime(point)
      if (!Number.isNaN(time)) return countWhile(times, (one) => one <= time)
      throw new ByrefError(
        'message_not_found',
        `${JSON.stringify(point)} is neither a message id nor an ISO 8601 time.`,
      )
    },
  }
}
