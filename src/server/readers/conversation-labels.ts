import type { ConversationEvent, LogRecord } from '../../core/events/events.ts'
import { isPlainObject } from '../../core/json/json.ts'
import {
  join,
  joinAll,
  type Label,
  readLabel,
  TRUSTED,
  UNTRUSTED,
} from '../../core/labels/label.ts'
import { readLabelTree, wholeOf } from '../../core/labels/label-tree.ts'
import { createLabels, type Labels } from '../../core/labels/labels.ts'
import { isData, kindOf, labelOf } from '../../core/messages/data-block.ts'
import type { DataBlock } from '../../core/messages/message.ts'
import type { VariableRef } from '../../core/refs/variable-ref.ts'
import { titleOf } from '../../log/summary.ts'

/** The labels of a conversation, and what a server asks of them. */
export interface ConversationLabels {
  readonly labels: Labels
  apply(record: Pick<LogRecord, 'event' | 'position'>): void
  /** Of the last record. */
  readonly position: number
  /** Of everything in it together. */
  readonly all: Label
  /** Of the message that gives it its title. */
  readonly title: Label
  /** Ids of the assets that it knows. */
  readonly assets: ReadonlySet<string>
  /** Ids of messages, each with the position at which it came. */
  readonly messages: ReadonlyMap<string, number>
  /** Names of data by kind and instance, as `state#x`. */
  readonly data: ReadonlyMap<string, Pick<VariableRef, 'kind' | 'instance'>>
  /** Of a message with all that is in it; null for one that it does not know. */
  message(id: string): Label | null
  /** Of what a person is asked about, or was. */
  approval(callId: string): Label
  /** The tool of a call. */
  toolOf(callId: string): string | undefined
}

/** Begins with a conversation in which nothing has happened. */
export function conversationLabels(): ConversationLabels {
  const labels = createLabels()
  const messages = new Map<string, number>()
  const data = new Map<string, Pick<VariableRef, 'kind' | 'instance'>>()
  const titles = new Map<string, Label>()
  const assets = new Set<string>()
  const approvals = new Map<string, Label>()
  const tools = new Map<string, string>()
  let all = TRUSTED
  let position = 0

  function note(event: ConversationEvent): void {
    switch (event.type) {
      case 'NEW_MESSAGE': {
        const { id } = event.payload
        messages.set(id, position)
        const label = wholeOf(labels.message(id))
        all = join(all, label)
        const block = event.payload.content
        if (isData(event.payload) && isPlainObject(block)) {
          const { _instance: instance } = block as unknown as DataBlock
          data.set(labelOf(block as never), { kind: kindOf(block as never), instance })
        }
        if (titleOf(event) !== null) titles.set(id, label)
        break
      }
      case 'MESSAGE_DELETED':
        titles.delete(event.messageId)
        break
      case 'ASSET_CREATED':
        assets.add(event.payload.assetId)
        all = join(all, labels.asset({ id: event.payload.assetId }))
        break
      case 'TOOL_CALL_END':
        tools.set(event.toolCallId, event.call.name)
        all = join(all, labels.contextOf(event.toolCallId))
        break
      case 'APPROVAL_REQUESTED':
        approvals.set(event.toolCallId, readLabel(event.label ?? {}))
        all = join(all, readLabel(event.label ?? {}))
        break
      case 'TOOL_ITEM_FINISHED':
        all = join(all, event.label === undefined ? UNTRUSTED : wholeOf(readLabelTree(event.label)))
    }
  }

  return {
    labels,
    apply(record) {
      position = record.position
      labels.apply(record)
      note(record.event)
    },
    get all() {
      return all
    },
    get title() {
      return titles.values().next().value ?? TRUSTED
    },
    get position() {
      return position
    },
    assets,
    messages,
    data,
    message: (id) => (messages.has(id) ? wholeOf(labels.message(id)) : null),
    approval: (callId) =>
      joinAll([labels.contextOf(callId), approvals.get(callId) ?? labels.contextOf(callId)]),
    toolOf: (callId) => tools.get(callId.replace(/\/\d+$/, '')),
  }
}
