import { defined } from '../../core/defined.ts'
import type { ConversationEvent, EventOf } from '../../core/events/events.ts'
import {
  joinAll,
  type Label,
  readLabel,
  UNTRUSTED,
  type WrittenLabel,
  writeLabel,
} from '../../core/labels/label.ts'
import { readLabelTree, type WrittenLabelTree, wholeOf } from '../../core/labels/label-tree.ts'
import { withheld, withheldCall, withheldMessage } from '../../core/labels/withheld.ts'
import type { ConversationLabels } from '../../log/conversation-labels.ts'

/** A reader and the conversation that they read. */
export interface Reading {
  labels: ConversationLabels
  /** Returns whether they may read a value with this label. */
  may(label: Label): boolean
  /** Returns the label that a tool declares for its results. Its progress messages have it too. */
  declared(tool: string | undefined): Label
}

type ReadEvent<T extends ConversationEvent['type']> = (
  event: EventOf<T>,
  reading: Reading,
) => ConversationEvent

/** Replaces text that the reader may not see. */
const TEXT = 'Withheld: you are not among its readers'

/** Returns an event as a reader may see it: values that they may not see are replaced by their types and sizes. */
export function asRead(event: ConversationEvent, reading: Reading): ConversationEvent {
  const read = READERS[event.type] as ReadEvent<ConversationEvent['type']> | undefined
  return read ? read(event, reading) : event
}

const READERS: { [T in ConversationEvent['type']]?: ReadEvent<T> } = {
  NEW_MESSAGE(event, { labels, may }) {
    const { payload, context, overrides, label, ...rest } = event
    if (may(labels.message(payload.id) ?? labels.all)) return event
    return { ...rest, ...wholeLabel(label), payload: withheldMessage(payload) }
  },
  ASSET_CREATED(event, { labels, may }) {
    const { name, meta, digest, origin, label, ...rest } = event.payload
    if (may(labels.values.asset({ id: rest.assetId }))) return event
    return { ...event, payload: { ...rest, ...wholeLabel(label) } }
  },
  ASSET_ERROR(event, { labels, may }) {
    if (may(labels.all)) return event
    return { ...event, payload: { ...event.payload, message: TEXT } }
  },
  RUN_STARTED(event, { labels, may }) {
    const { context, overrides, ...rest } = event
    const label = joinAll((event.messageIds ?? []).map((id) => labels.message(id) ?? labels.all))
    return may(label) ? event : rest
  },
  MODEL_RETRY: (event, { labels, may }) => (may(labels.all) ? event : { ...event, reason: TEXT }),
  RUN_ERROR: (event, { labels, may }) => (may(labels.all) ? event : { ...event, message: TEXT }),
  PROMPT_COMPACTED(event, { labels, may }) {
    const { summary } = event
    return !summary || may(labels.all) ? event : { ...event, summary: { ...summary, text: TEXT } }
  },
  TOOL_CALL_END(event, { labels, may }) {
    if (may(labels.values.contextOf(event.toolCallId))) return event
    const { problem, reasoning, ...rest } = event
    return { ...rest, call: withheldCall(event.call) }
  },
  APPROVAL_REQUESTED(event, { labels, may }) {
    if (may(labels.approval(event.toolCallId)) && may(readLabel(event.label ?? {}))) return event
    const { items, violations, reason: _, previews: __, ...rest } = event
    return defined({
      ...rest,
      arguments: { ...withheld(event.arguments) },
      items: items?.map((item) => ({ ...withheld(item) })),
      violations: violations?.map(({ rule, label }) => ({ rule, path: '', label })),
    })
  },
  APPROVAL_ANSWERED(event, { labels, may }) {
    if (may(labels.approval(event.toolCallId))) return event
    const { arguments: changed, result, reason, ...rest } = event
    return {
      ...rest,
      ...(changed === undefined ? {} : { arguments: { ...withheld(changed) } }),
      ...(result === undefined ? {} : { result: { ...withheld(result) } }),
    }
  },
  TOOL_FINISHED(event, { may }) {
    const { value, modelOutput, error, label, ...rest } = event
    const tree = label === undefined ? { label: UNTRUSTED } : readLabelTree(label)
    if (may(wholeOf(tree))) return event
    return {
      ...rest,
      ...wholeLabel(label),
      ...(value === undefined ? {} : { value: { ...withheld(value) } }),
      ...(modelOutput === undefined ? {} : { modelOutput: { ...withheld(modelOutput) } }),
      ...(error ? { error: { ...error, message: TEXT } } : {}),
    }
  },
  DECLASSIFIED(event, { labels, may }) {
    return may(labels.values.contextOf(event.toolCallId)) ? event : { ...event, question: TEXT }
  },
  TEXT_MESSAGE_CONTENT(event, { labels, may }) {
    return may(labels.values.context(event.messageId)) ? event : { ...event, delta: '' }
  },
  REASONING_MESSAGE_CONTENT(event, { labels, may }) {
    return may(labels.values.context(event.messageId)) ? event : { ...event, delta: '' }
  },
  TOOL_CALL_ARGS(event, { labels, may }) {
    return may(labels.values.contextOf(event.toolCallId)) ? event : { ...event, delta: '' }
  },
  // The message of the result has its label, and comes with it.
  TOOL_CALL_RESULT(event, { labels, may }) {
    const label = labels.message(event.messageId)
    return label && may(label) ? event : { ...event, content: '' }
  },
  TOOL_PROGRESS(event, { labels, may, declared }) {
    const { toolCallId } = event.payload
    const tool = labels.toolOf(toolCallId)
    const given = tool === undefined ? labels.all : labels.values.retainedBy(tool)
    const label = joinAll([labels.values.contextOf(toolCallId), given, declared(tool)])
    return may(label) ? event : { ...event, payload: { ...event.payload, message: '' } }
  },
}

/** Returns a label without the keys of its value, which may say what is in it. */
function wholeLabel(label: WrittenLabelTree | undefined): { label?: WrittenLabel } {
  return label === undefined ? {} : { label: writeLabel(wholeOf(readLabelTree(label))) }
}
