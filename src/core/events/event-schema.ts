import { errorMessage } from '../errors.ts'
import { isoTime } from '../iso-time.ts'
import { isPlainObject, shownJson } from '../json/json.ts'
import { toDataBlock } from '../messages/data-block.ts'
import {
  MESSAGE_TYPES,
  type Message,
  type MessageType,
  type Participant,
  type ToolCall,
} from '../messages/message.ts'
import {
  type AssetCreated,
  type AssetFailed,
  type DurableType,
  type EventOf,
  isStreamed,
  type RunOverrides,
  type TokenUsage,
} from './events.ts'

/**
 * Returns what is wrong with a value, as a path and a text such as `.payload.id must be text, not 5`. Null if
 * the value is valid. `T` is the type of a valid value.
 */
interface Check<T> {
  (value: unknown): string | null
  /** Never set. It ties the check to exactly this type. */
  readonly of?: (value: T) => T
}

/** A check for each field of a type, with optional fields marked. A missing field is a compile error. */
type Fields<T> = {
  readonly [K in keyof T as string extends K ? never : K]-?: object extends Pick<T, K>
    ? { optional: Check<Exclude<T[K], undefined>> }
    : Check<T[K]>
}

/**
 * Returns what is wrong with an event that is or will be stored, such as `payload.id must be text, not 5`.
 * Null if the event is valid, or if its type is unknown. Unknown fields and unknown words of a choice are
 * accepted, because a later version may have written them.
 */
export function eventProblem(event: unknown): string | null {
  if (!isPlainObject(event)) return `the event${wrong('an object', event)}`
  const { type } = event
  if (typeof type !== 'string' || type === '') return `type${wrong(NAME, type)}`
  if (isStreamed(type)) return `type ${type} is a streamed event and cannot be stored`
  const problem = Object.hasOwn(EVENTS, type) ? EVENTS[type as DurableType](event) : null
  return problem === null ? null : problem.slice(1)
}

const NAME = 'text that is not empty'

const text: Check<string> = (value) => (typeof value === 'string' ? null : wrong('text', value))

const name: Check<string> = (value) =>
  typeof value === 'string' && value !== '' ? null : wrong(NAME, value)

/** Any word, because a later version may add words to the choice. */
function word<T extends string>(): Check<T> {
  return (value) => name(value)
}

const flag: Check<boolean> = (value) =>
  typeof value === 'boolean' ? null : wrong('true or false', value)

const yes: Check<true> = (value) => (value === true ? null : wrong('true', value))

const number: Check<number> = (value) =>
  typeof value === 'number' && Number.isFinite(value) ? null : wrong('a number', value)

const amount: Check<number> = (value) =>
  typeof value === 'number' && value >= 0 && value < Infinity
    ? null
    : wrong('a number from 0', value)

const count: Check<number> = (value) =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 1_000_000_000
    ? null
    : wrong('a whole number from 0 to 1,000,000,000', value)

const time: Check<string> = (value) =>
  typeof value === 'string' && !Number.isNaN(isoTime(value))
    ? null
    : wrong('a time in ISO 8601', value)

/** Any value except undefined: the value came from JSON or was copied as JSON. */
function json<T>(): Check<T> {
  return (value) => (value === undefined ? wrong('JSON', value) : null)
}

/** An object whose keys are validated elsewhere. */
function object<T extends object>(): Check<T> {
  return (value) => (isPlainObject(value) ? null : wrong('an object', value))
}

function orNull<T>(check: Check<T>): Check<T | null> {
  return (value) => (value === null ? null : check(value))
}

function list<T>(check: Check<T>): Check<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) return wrong('a list', value)
    for (let i = 0; i < value.length; i++) {
      const problem = check(value[i])
      if (problem !== null) return `[${i}]${problem}`
    }
    return null
  }
}

function shape<T>(fields: Fields<T>): Check<T> {
  const entries = Object.entries(fields) as [string, Field][]
  const keys = entries.map(([key]) => key)
  const checks = entries.map(([, field]) => {
    if (typeof field === 'function') return field
    const { optional } = field
    return (value: unknown) => (value === undefined ? null : optional(value))
  })
  return (value) => {
    if (!isPlainObject(value)) return wrong('an object', value)
    // Every append runs this, so it uses no iterators and makes no copies.
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      const problem = (checks[i] as Check<unknown>)(value[key])
      if (problem !== null) return `.${key}${problem}`
    }
    return null
  }
}

type Field = Check<unknown> | { optional: Check<unknown> }

function wrong(what: string, value: unknown): string {
  if (value === undefined) return ` is missing: it must be ${what}`
  const isObject = typeof value === 'object' && value !== null
  const shown = !isObject ? shownJson(value) : Array.isArray(value) ? 'a list' : 'an object'
  return ` must be ${what}, not ${shown.slice(0, 50)}`
}

const participant = shape<Participant>({
  participant_id: text,
  participant_role: name,
  name: { optional: text },
})

/** Checks the form that {@link toDataBlock} returns, because the board relies on it. */
const dataBlock: Check<unknown> = (value) => {
  if (!isPlainObject(value)) return wrong('an object', value)
  const { _path } = value
  if (_path !== undefined && !Array.isArray(_path)) return `._path${wrong('a list of keys', _path)}`
  try {
    toDataBlock(value)
    return null
  } catch (error) {
    return `: ${errorMessage(error)}`
  }
}

const messageType: Check<MessageType> = (value) =>
  MESSAGE_TYPES.includes(value) ? null : wrong(`one of ${MESSAGE_TYPES.join(', ')}`, value)

const envelope = shape<Message>({
  id: name,
  sender: participant,
  receiver: { optional: participant },
  message_type: messageType,
  content_type: name,
  content: json(),
  timestamp: time,
  metadata: object(),
})

const message: Check<Message> = (value) => {
  const problem = envelope(value)
  if (problem !== null || !isPlainObject(value)) return problem
  const { content_type, content } = value
  const inside =
    content_type === 'data'
      ? dataBlock(content)
      : String(content_type).startsWith('text/')
        ? text(content)
        : null
  return inside && `.content${inside}`
}

const toolCall = shape<ToolCall>({
  id: text,
  name: text,
  arguments: object(),
  via: { optional: text },
})

/** Invalid counts, such as negative numbers, are accepted here and ignored in sums. */
const usage = shape<TokenUsage>({
  inputTokens: orNull(number),
  outputTokens: orNull(number),
  cachedInputTokens: { optional: number },
  cacheWriteTokens: { optional: number },
  cost: { optional: number },
})

const overrides = shape<RunOverrides>({
  settings: { optional: object() },
  output: { optional: object() },
})

/** Identifies a call and its run. */
const ofCall = { toolCallId: text, runId: name }

type Of<T extends DurableType> = Omit<EventOf<T>, 'type'>

const EVENTS: { readonly [T in DurableType]: Check<Of<T>> } = {
  NEW_MESSAGE: shape<Of<'NEW_MESSAGE'>>({
    payload: message,
    label: { optional: object() },
    retained: { optional: object() },
    deliver: { optional: word() },
    runId: { optional: name },
    context: { optional: json() },
    overrides: { optional: overrides },
    agent: { optional: text },
  }),
  MESSAGE_DELETED: shape<Of<'MESSAGE_DELETED'>>({ messageId: name }),
  BRANCH_STARTED: shape<Of<'BRANCH_STARTED'>>({ root: name, from: name, at: { optional: name } }),
  ASSET_CREATED: shape<Of<'ASSET_CREATED'>>({
    payload: shape<AssetCreated>({
      assetId: name,
      ref: name,
      mime: text,
      kind: word(),
      by: word(),
      tool: { optional: text },
      toolCallId: { optional: text },
      messageId: { optional: text },
      origin: { optional: text },
      label: { optional: object() },
      size: { optional: amount },
      digest: { optional: text },
      name: { optional: text },
      namespace: { optional: text },
      expiresAt: { optional: time },
      structured: { optional: yes },
      previous: { optional: text },
      meta: { optional: object() },
      base64: { optional: text },
      dataUrl: { optional: text },
    }),
  }),
  ASSET_ERROR: shape<Of<'ASSET_ERROR'>>({
    payload: shape<AssetFailed>({
      ref: { optional: text },
      code: text,
      message: text,
      mime: { optional: text },
      by: word(),
      tool: { optional: text },
      toolCallId: { optional: text },
      origin: { optional: text },
    }),
  }),
  RUN_STARTED: shape<Of<'RUN_STARTED'>>({
    threadId: text,
    runId: name,
    parentRunId: { optional: text },
    toolCallId: { optional: text },
    attribution: { optional: text },
    messageIds: list(text),
    agent: { optional: text },
    model: { optional: text },
    owner: text,
    settings: { optional: text },
    trust: { optional: word() },
    context: { optional: json() },
    overrides: { optional: overrides },
    copiedFrom: { optional: text },
  }),
  RUN_CLAIMED: shape<Of<'RUN_CLAIMED'>>({
    threadId: text,
    runId: name,
    owner: text,
    settings: { optional: text },
    trust: { optional: word() },
    reason: { optional: word() },
  }),
  RUN_FINISHED: shape<Of<'RUN_FINISHED'>>({
    threadId: text,
    runId: name,
    result: shape({ reason: word(), usage }),
  }),
  RUN_ERROR: shape<Of<'RUN_ERROR'>>({ threadId: text, runId: name, code: text, message: text }),
  STEP_STARTED: shape<Of<'STEP_STARTED'>>({
    stepName: text,
    runId: name,
    messageId: name,
    messageIds: { optional: list(text) },
    correction: { optional: yes },
    commandIds: { optional: list(text) },
  }),
  STEP_FINISHED: shape<Of<'STEP_FINISHED'>>({
    stepName: text,
    runId: name,
    messageId: name,
    usage,
    finishReason: text,
    outputProblem: { optional: text },
    model: { optional: text },
    requests: { optional: count },
  }),
  PROMPT_COMPACTED: shape<Of<'PROMPT_COMPACTED'>>({
    runId: name,
    reason: word(),
    through: text,
    from: orNull(text),
    wholeFrom: orNull(text),
    pinned: list(text),
    summary: { optional: shape({ text, messages: count }) },
    media: orNull(list(text)),
  }),
  TOOL_CALL_END: shape<Of<'TOOL_CALL_END'>>({
    ...ofCall,
    parentMessageId: name,
    call: toolCall,
    problem: { optional: text },
    reasoning: { optional: list(object()) },
  }),
  APPROVAL_REQUESTED: shape<Of<'APPROVAL_REQUESTED'>>({
    ...ofCall,
    parentToolCallId: { optional: text },
    toolName: text,
    arguments: object(),
    items: { optional: list(json()) },
    previews: { optional: list(orNull(text)) },
    needsResult: { optional: flag },
    violations: {
      optional: list(shape({ rule: word(), path: text, ref: { optional: text }, label: object() })),
    },
    reason: { optional: text },
    label: { optional: object() },
  }),
  APPROVAL_ANSWERED: shape<Of<'APPROVAL_ANSWERED'>>({
    ...ofCall,
    parentToolCallId: { optional: text },
    approved: flag,
    by: { optional: text },
    reason: { optional: text },
    arguments: { optional: json() },
    result: { optional: json() },
  }),
  TOOL_STARTED: shape<Of<'TOOL_STARTED'>>({
    ...ofCall,
    attempt: count,
    item: { optional: count },
    items: { optional: count },
  }),
  TOOL_FINISHED: shape<Of<'TOOL_FINISHED'>>({
    ...ofCall,
    item: { optional: count },
    value: { optional: json() },
    error: { optional: shape({ code: text, message: text }) },
    modelOutput: { optional: json() },
    chosen: { optional: count },
    label: { optional: object() },
    retained: { optional: object() },
  }),
  TOOL_USAGE: shape<Of<'TOOL_USAGE'>>({ ...ofCall, usage, usedBy: { optional: text } }),
  DECLASSIFIED: shape<Of<'DECLASSIFIED'>>({ ...ofCall, bits: amount, question: text }),
}
