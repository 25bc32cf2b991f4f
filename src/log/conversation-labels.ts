import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { isPlainObject } from '../core/json/json.ts'
import { join, joinAll, type Label, readLabel, TRUSTED, UNTRUSTED } from '../core/labels/label.ts'
import { readLabelTree, wholeOf } from '../core/labels/label-tree.ts'
import { createLabels } from '../core/labels/labels.ts'
import { identityOf, isData, kindOf } from '../core/messages/data-block.ts'
import type { DataBlock } from '../core/messages/message.ts'
import { callIdOf } from '../core/refs/item-call.ts'
import type { VariableRef } from '../core/refs/variable-ref.ts'
import { titleOf } from './summary.ts'

/** The labels of a conversation, folded from its records. */
export class ConversationLabels {
  readonly values = createLabels()
  /** The ids of the assets that were created in it. */
  readonly assets = new Set<string>()
  /** The ids of messages, each with its position. */
  readonly messages = new Map<string, number>()
  /** The names of data, such as `state#x`, with kind and instance. */
  readonly data = new Map<string, Pick<VariableRef, 'kind' | 'instance'>>()
  readonly #titles = new Map<string, Label>()
  readonly #approvals = new Map<string, Label>()
  readonly #tools = new Map<string, string>()
  #all = TRUSTED
  #answer = ''
  #hasTrust = false
  #position = 0

  /** The position of the last record. */
  get position(): number {
    return this.#position
  }

  /** Whether one of its runs had trust on. */
  get hasTrust(): boolean {
    return this.#hasTrust
  }

  /** The label of the model's last answer, without the values in it. */
  get answer(): Label {
    return this.values.message(this.#answer).label
  }

  /** The label of everything in the conversation. */
  get all(): Label {
    return this.#all
  }

  /** The label of the message that the title comes from. */
  get title(): Label {
    return this.#titles.values().next().value ?? TRUSTED
  }

  /** Returns the label of a message with all its values; null for an unknown message. */
  message(id: string): Label | null {
    return this.messages.has(id) ? wholeOf(this.values.message(id)) : null
  }

  /** Returns the label of a call's approval request. */
  approval(callId: string): Label {
    const context = this.values.contextOf(callId)
    return joinAll([context, this.#approvals.get(callId) ?? context])
  }

  /** Returns the tool of a call. */
  toolOf(callId: string): string | undefined {
    return this.#tools.get(callIdOf(callId))
  }

  apply(record: Pick<LogRecord, 'event' | 'position'>): void {
    this.#position = record.position
    this.values.apply(record)
    this.#note(record.event)
  }

  #note(event: ConversationEvent): void {
    const { values } = this
    switch (event.type) {
      case 'RUN_STARTED':
      case 'RUN_CLAIMED':
        if ((event.trust ?? 'off') !== 'off') this.#hasTrust = true
        break
      case 'NEW_MESSAGE': {
        const { id } = event.payload
        this.messages.set(id, this.#position)
        const label = wholeOf(values.message(id))
        this.#join(label)
        const block = event.payload.content as DataBlock
        if (isData(event.payload) && isPlainObject(block)) {
          this.data.set(identityOf(block), { kind: kindOf(block), instance: block._instance })
        }
        if (titleOf(event) !== null) this.#titles.set(id, label)
        if (event.payload.sender.participant_role === 'assistant') this.#answer = id
        break
      }
      case 'MESSAGE_DELETED':
        this.#titles.delete(event.messageId)
        break
      case 'ASSET_CREATED':
        this.assets.add(event.payload.assetId)
        this.#join(values.asset({ id: event.payload.assetId }))
        break
      case 'TOOL_CALL_END':
        this.#tools.set(event.toolCallId, event.call.name)
        this.#join(values.contextOf(event.toolCallId))
        break
      case 'APPROVAL_REQUESTED': {
        const label = readLabel(event.label ?? {})
        this.#approvals.set(event.toolCallId, label)
        this.#join(label)
        break
      }
      case 'TOOL_FINISHED':
        this.#join(event.label === undefined ? UNTRUSTED : wholeOf(readLabelTree(event.label)))
    }
  }

  #join(label: Label): void {
    this.#all = join(this.#all, label)
  }
}
