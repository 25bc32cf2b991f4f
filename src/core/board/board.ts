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
import { kindOf, labelOf, methodOf } from '../messages/data-block.ts'
import type { DataBlock, Message } from '../messages/message.ts'
import { type MessageInput, toMessage } from '../messages/to-message.ts'
import { evaluateVariable, variablesIn } from '../refs/evaluate-variable.ts'
import type { FieldKey } from '../refs/field-key.ts'
import { explainMissing, MISSING } from '../refs/field-path.ts'
import {
  formatVariable,
  parseVariableRef,
  VariableError,
  type VariableRef,
} from '../refs/variable-ref.ts'
import { WIDE } from './edit-container.ts'
import { checkSchema, type ValidateSchema } from './schema-check.ts'
import { childOf, countUpTo, NOW, Slot, toJson, valueAt } from './versioned.ts'
import { applyWrite, checkWrite, type Write } from './write.ts'

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

/** The whole board as one JSON object by label (`user`, `user#①`): AG-UI's `STATE_SNAPSHOT`. */
export type BoardSnapshot = { readonly [label: string]: JsonObject }

/** Options of {@link createBoard}. */
export interface BoardOptions {
  /** Checks writes against schemas. Without it nothing is checked. */
  validate?: ValidateSchema
  /** Which messages are about the same thing. Default: those of one kind and instance. */
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

/** The data messages of a conversation, merged. */
export interface Board {
  /**
   * Takes the next message of the conversation, of any type, and gives its stored form. Throws `invalid_data` or
   * `schema_violation` for a write that cannot be done; the board is then as it was.
   */
  append(message: MessageInput): Message
  /**
   * The value of a variable reference such as `†state.user.name`, frozen. Throws `VariableError` where there is none,
   * `invalid_reference` for text that is no reference, `message_not_found` for an unknown point.
   */
  read(ref: string, options?: ReadOptions): unknown
  /** Whether {@link Board.read} would give a value. */
  has(ref: string, options?: ReadOptions): boolean
  /** Every identity, in the order of their first messages. */
  entries(options?: { at?: BoardPoint }): BoardEntry[]
  /** The entries by label. `jsonPatch` of two snapshots is what changed between them. */
  snapshot(options?: { at?: BoardPoint }): BoardSnapshot
}

interface Identity {
  label: string
  kind: string
  instance?: string
  /** The fields of the entry that change: data, schema, description and messageId. */
  fields: Record<Field, Slot>
}

type Field = 'data' | 'schema' | 'description' | 'messageId'

/**
 * A board with these messages on it. Reading a variable costs the length of its path, now and at any past point, and
 * appending costs the message's own size, however long the conversation is.
 */
export function createBoard(messages: readonly MessageInput[] = [], options?: BoardOptions): Board {
  const { validate, identity = labelOf } = checkOptions('createBoard', options, BOARD_OPTIONS)
  const identities = new Map<string, Identity>()
  const timeline = createTimeline()

  function take(message: Message, block: DataBlock): void {
    const label = identity(block)
    const entry = identities.get(label) ?? born(label, block)
    const { fields } = entry
    const schema = block.schema ? copyJson(block.schema) : MISSING
    const value = fields.data.at(NOW)
    const write = toWrite(block)
    if (write) {
      checkWrite(value, write)
      // An instance without a schema of its own is bound by the global one of its kind.
      const shared = identities.get(identity({ ...block, _instance: undefined }))
      const schemas = [entry, shared].map((one) => one?.fields.schema.at(NOW))
      const bound = [schema, ...schemas].find(isPlainObject) as JsonObject | undefined
      if (bound && validate) checkSchema(value, write, { schema: bound, validate })
    }
    // From here on nothing throws: a refused message leaves no trace.
    const position = timeline.add(message)
    if (write) fields.data.set(applyWrite(value, write, { position, wide: WIDE }), position)
    if (schema !== MISSING) fields.schema.set(schema, position)
    if (block.description !== undefined) fields.description.set(block.description, position)
    fields.messageId.set(message.id, position)
    identities.set(label, entry)
  }

  /** Who may answer for a reference: the instance it names, else the one that is asked for and then the global one. */
  function candidates({ kind, instance }: VariableRef, asked: string | undefined): Identity[] {
    return [instance ?? asked, instance].flatMap((_instance) => {
      return identities.get(identity({ type: 'data', kind, _instance })) ?? []
    })
  }

  function find(ref: VariableRef, instance: string | undefined, position: number) {
    for (const { fields } of candidates(ref, instance)) {
      const value = valueAt(fields.data.at(position), ref.path, position)
      if (value !== MISSING) return toJson(value, position)
    }
    return MISSING
  }

  function explain(ref: VariableRef, instance: string | undefined, position: number): string {
    const has = ({ fields }: Identity) => fields.data.at(position) !== MISSING
    const entry = candidates(ref, instance).find(has)
    if (!entry) {
      const labels = [...identities.values()].filter(has).map(({ label }) => `†${label}`)
      const there =
        labels.length > 0
          ? `${labels.length} have one: ${labels.slice(0, 20).join(', ')}`
          : 'nothing has one yet'
      return `${formatVariable(ref, [])} has no value; ${there}.`
    }
    let value = entry.fields.data.at(position)
    const path: FieldKey[] = []
    for (const key of ref.path) {
      const child = childOf(value, key, position)
      if (child === MISSING)
        return explainMissing(formatVariable(entry, path), toJson(value, position), key)
      value = child
      path.push(key)
    }
    return ''
  }

  function evaluate(text: string, { instance, at }: ReadOptions) {
    const expression = parseVariableRef(text)
    if (!expression) {
      throw new ByrefError(
        'invalid_reference',
        `${JSON.stringify(text).slice(0, 100)} is no variable reference, such as †state.user.name.`,
      )
    }
    const position = timeline.positionOf(at)
    const value = evaluateVariable(expression, (ref) => find(ref, instance, position))
    return { value, expression, position }
  }

  function labelled(at: BoardPoint | undefined): [string, BoardEntry][] {
    const position = timeline.positionOf(at)
    const entries: [string, BoardEntry][] = []
    for (const { label, fields, ...entry } of identities.values()) {
      const found: Record<string, unknown> = entry
      for (const [field, slot] of Object.entries(fields)) {
        const value = slot.at(position)
        if (value !== MISSING) found[field] = toJson(value, position)
      }
      if (found.messageId) entries.push([label, found as unknown as BoardEntry])
    }
    return entries
  }

  const board: Board = {
    append(input) {
      const message = toMessage(input)
      if (message.content_type === 'data') take(message, message.content as DataBlock)
      else timeline.add(message)
      return message
    },
    read(ref, options = {}) {
      const { value, expression, position } = evaluate(ref, options)
      if (value !== MISSING) return value
      const reasons = variablesIn(expression).map((one) => explain(one, options.instance, position))
      throw new VariableError(reasons.join(' '))
    },
    has: (ref, options = {}) => evaluate(ref, options).value !== MISSING,
    entries: ({ at } = {}) => labelled(at).map(([, entry]) => entry),
    snapshot: ({ at } = {}) => Object.fromEntries(labelled(at)) as unknown as BoardSnapshot,
  }
  for (const message of messages) board.append(message)
  return checkMethods('board', board, BOARD_METHODS)
}

function born(label: string, block: DataBlock): Identity {
  const slot = () => new Slot(MISSING, 0)
  const fields = { messageId: slot(), data: slot(), schema: slot(), description: slot() }
  return { label, ...headOf(block), fields }
}

function headOf(block: DataBlock): { kind: string; instance?: string } {
  const kind = kindOf(block)
  return block._instance === undefined ? { kind } : { kind, instance: block._instance }
}

/** The write of a block; null if it only declares. */
function toWrite(block: DataBlock): Write | null {
  const { data, _path: path = [], _outputMethod } = block
  if (data === undefined && path.length === 0 && _outputMethod === undefined) return null
  const write = { ...headOf(block), path, method: methodOf(block) }
  return data === undefined ? write : { ...write, data: copyJson(data) }
}

/** Positions of messages: by id, and by time. A message whose clock ran behind counts as of the one before it. */
function createTimeline() {
  const positions = new Map<string, number>()
  const times: number[] = []
  return {
    /** The position of the message, from 1. */
    add({ id, timestamp }: Message): number {
      times.push(Math.max(isoTime(timestamp), times.at(-1) ?? -Infinity))
      positions.set(id, times.length)
      return times.length
    },
    positionOf(point: BoardPoint | undefined): number {
      if (point === undefined) return NOW
      const known = positions.get(point as string)
      if (known !== undefined) return known
      const time = point instanceof Date ? point.getTime() : isoTime(point)
      if (!Number.isNaN(time)) return countUpTo(times, time, (one) => one)
      throw new ByrefError(
        'message_not_found',
        `${JSON.stringify(point)} is no message here and no time.`,
      )
    },
  }
}
