import type { ConversationEvent, EventOf } from '../../core/events/events.ts'
import { joinAll, type Label, readLabel, UNTRUSTED } from '../../core/labels/label.ts'
import { readLabelTree, wholeOf } from '../../core/labels/label-tree.ts'
import { withheld, withheldCall, withheldMessage } from '../../core/labels/withheld.ts'
import type { ConversationLabels } from './conversation-labels.ts'

/** A reader and the conversation that they read. */
export interface Reading {
  its: ConversationLabels
  /** Returns whether they may read a value with this label. */
  may(label: Label): boolean
  /** Returns the label that a tool declares for its results. Its progress messages have it too. */
  said(tool: string | undefined): Label
}

type Reader<T extends ConversationEvent['type']> = (
  event: EventOf<T>,
  reading: Reading,
) => ConversationEvent

/** Replaces text that the reader may not see. */
const TEXT = 'Withheld: you are not among its readers'

/** Returns an event as somebody may read it: values that they may not see are replaced by their types and sizes. */
export function asRead(event: ConversationEvent, reading: Reading): ConversationEvent {
  const read = READERS[event.type] as Reader<ConversationEvent['type']> | undefined
  return read ? read(event, reading) : event
}

const READERS: { [T in ConversationEvent['type']]?: Reader<T> } = {
  NEW_MESSAGE(event, { its, may }) {
    const { payload, context, ask, ...rest } = event
    if (may(its.message(payload.id) ?? its.all)) return event
    return { ...rest, payload: withheldMessage(payload) }
  },
  ASSET_CREATED(event, { its, may }) {
    const { name, meta, digest, origin, ...payload } = event.payload
    return may(its.labels.asset({ id: payload.assetId })) ? event : { ...event, payload }
  },
  ASSET_ERROR(event, { its, may }) {
    if (may(its.all)) return event
    return { ...event, payload: { ...event.payload, message: TEXT } }
  },
  RUN_STARTED(event, { its, may }) {
    const { context, ask, ...rest } = event
    const label = joinAll((event.messageIds ?? []).map((id) => its.message(id) ?? its.all))
    return may(label) ? event : rest
  },
  MODEL_RETRY: (event, { its, may }) => (may(its.all) ? event : { ...event, reason: TEXT }),
  RUN_ERROR: (event, { its, may }) => (may(its.all) ? event : { ...event, message: TEXT }),
  PROMPT_COMPACTED(event, { its, may }) {
    const { summary } = event
    return !summary || may(its.all) ? event : { ...event, summary: { ...summary, text: TEXT } }
  },
  TOOL_CALL_END(event, { its, may }) {
    if (may(its.labels.contextOf(event.toolCallId))) return event
    const { problem, ...rest } = event
    return { ...rest, call: withheldCall(event.call) }
  },
  APPROVAL_REQUESTED(event, { its, may }) {
    if (may(its.approval(event.toolCallId)) && may(readLabel(event.label ?? {}))) return event
    const { items, violations, reason: _, previews: __, ...rest } = event
    return {
      ...rest,
      arguments: { ...withheld(event.arguments) },
      ...(items ? { items: items.map((item) => ({ ...withheld(item) })) } : {}),
      ...(violations
        ? { violations: violations.map(({ rule, label }) => ({ rule, path: '', label })) }
        : {}),
    }
  },
  APPROVAL_ANSWERED(event, { its, may }) {
    if (may(its.approval(event.toolCallId))) return event
    const { arguments: changed, result, reason, ...rest } = event
    return {
      ...rest,
      ...(changed === undefined ? {} : { arguments: { ...withheld(changed) } }),
      ...(result === undefined ? {} : { result: { ...withheld(result) } }),
    }
  },
  TOOL_ITEM_FINISHED(event, { may }) {
    const { value, error, ...rest } = event
    const tree = event.label === undefined ? { label: UNTRUSTED } : readLabelTree(event.label)
    if (may(wholeOf(tree))) return event
    return {
      ...rest,
      ...(value === undefined ? {} : { value: { ...withheld(value) } }),
      ...(error ? { error: { ...error, message: TEXT } } : {}),
    }
  },
  DECLASSIFIED(event, { its, may }) {
    return may(its.labels.contextOf(event.toolCallId)) ? event : { ...event, question: TEXT }
  },
  TEXT_MESSAGE_CONTENT(event, { its, may }) {
    return may(its.labels.context(event.messageId)) ? event : { ...event, delta: '' }
  },
  REASONING_MESSAGE_CONTENT(event, { its, may }) {
    return may(its.labels.context(event.messageId)) ? event : { ...event, delta: '' }
  },
  TOOL_CALL_ARGS(event, { its, may }) {
    return may(its.labels.contextOf(event.toolCallId)) ? event : { ...event, delta: '' }
  },
  // The message of the result has its label, and comes with it.
  TOOL_CALL_RESULT(event, { its, may }) {
    const label = its.message(event.messageId)
    return label && may(label) ? event : { ...event, content: '' }
  },
  TOOL_PROGRESS(event, { its, may, said }) {
    const { toolCallId } = event.payload
    const tool = its.toolOf(toolCallId)
    const given = tool === undefined ? its.all : its.labels.given(tool)
    const label = joinAll([its.labels.contextOf(toolCallId), given, said(tool)])
    return may(label) ? event : { ...event, payload: { ...event.payload, message: '' } }
  },
}
