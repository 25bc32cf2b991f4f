import type { AssetCreated, ConversationEvent, LogRecord, TrustMode } from '../events/events.ts'
import { isData, writerOf } from '../messages/data-block.ts'
import type { Message } from '../messages/message.ts'
import { RESULT, resultCall } from '../messages/results.ts'
import { isDeletedResult } from '../messages/tombstone.ts'
import type { AssetRefParts } from '../refs/asset-ref.ts'
import type { FoundReference } from '../refs/references-in.ts'
import { formatLabel, type VariableRef } from '../refs/variable-ref.ts'
import { createDataLabels, type DataLabels } from './data-labels.ts'
import {
  join,
  joinAll,
  type Label,
  madeBy,
  readLabel,
  TRUSTED,
  UNKNOWN,
  UNTRUSTED,
  type WrittenLabel,
} from './label.ts'
import { joinTrees, type LabelTree, readLabelTree, treeAt, wholeOf } from './label-tree.ts'

/** The labels in one conversation. It is a fold of the log that never reads values. */
export interface Labels {
  /** Adds the next record of the log. */
  apply(record: Pick<LogRecord, 'event'>): void
  /** Adds events that are being appended, because their values may be read before the log confirms them. */
  expect(events: readonly ConversationEvent[]): void
  /** Removes events that were expected and not appended. */
  rewind(): void
  /** Returns the label of a message's content, or of a data message's `data`. */
  message(id: string): LabelTree
  /** Returns the label of `†result#N`; null if there is none. */
  result(number: number): LabelTree | null
  /**
   * Returns the label of an asset reference, with all fields. An asset that the conversation does not know is
   * untrusted and private.
   */
  asset(ref: Pick<AssetRefParts, 'id' | 'fieldPath'>): Label
  /** Returns the labels of an asset reference by field. Null for an asset that the conversation does not know. */
  assetTree(ref: Pick<AssetRefParts, 'id' | 'fieldPath'>): LabelTree | null
  /** Returns the label of a variable with all fields, in its instance and, if it names none, also globally. */
  variable(ref: VariableRef, instance?: string): Label
  /** Returns the same by field. */
  variableTree(ref: VariableRef, instance?: string): LabelTree
  /** Returns the label of everything that a reference names. */
  reference(found: FoundReference, own?: OwnLabels): Label
  /** Returns the label of everything the model had seen when it wrote an answer. Without an id: until now. */
  context(messageId?: string): Label
  /** Returns the same for the answer that contains a call. */
  contextOf(callId: string): Label
  /** Returns the label of the whole conversation. */
  everything(): Label
  /**
   * Returns the label of everything that a tool's calls were given and have read so far, according to their
   * results.
   */
  given(tool: string): Label
  /** Returns the label of the results of a mapped call's items. */
  items(callId: string): ReadonlyMap<number, LabelTree>
  /** Returns how many bits about untrusted values a run has shown to its model. */
  declassified(runId: string): number
}

/** The context in which a call reads. */
export interface OwnLabels {
  /** The instance that it reads first. */
  instance?: string
}

/** Roles whose messages are their own words. Messages of other roles are data. */
const SPEAKERS: ReadonlySet<string> = new Set(['user', 'system', 'assistant'])

/** Whether a message contains its sender's own words: those of a person, the app or the model. */
export function isSpeaker(sender: Message['sender'] | undefined): boolean {
  return sender !== undefined && SPEAKERS.has(sender.participant_role)
}

/** Creates the labels of an empty conversation. */
export function createLabels(): Labels {
  const messages = new Map<string, LabelTree>()
  const assets = new Map<string, LabelTree>()
  const results: (LabelTree | null)[] = []
  const steps = new Map<string, Label>()
  const calls = new Map<string, { name: string; answer: string }>()
  const items = new Map<string, Map<number, LabelTree>>()
  const given = new Map<string, Label>()
  const bits = new Map<string, number>()
  const waiting = new Map<string, LabelTree>()
  const commands = new Map<string, readonly string[]>()
  const data: DataLabels = createDataLabels()
  let mode: TrustMode = 'off'
  let context: Label = TRUSTED
  /** The label of the whole conversation, and of the part that a model in quarantine sees. */
  let whole: Label = TRUSTED
  let visible: Label = TRUSTED
  /** The label of the last step's results. */
  let answered: Label = TRUSTED
  let isRunning = false

  function show(tree: LabelTree): void {
    whole = join(whole, wholeOf(tree))
    visible = join(visible, visibleOf(tree))
  }

  /** The label of what the model has seen, including its next step. */
  function now(): Label {
    return join(context, mode === 'quarantine' ? visible : whole)
  }

  function say(message: Message, tree: LabelTree): void {
    messages.set(message.id, tree)
    if (isData(message)) data.write(message, tree)
    if (isDeletedResult(message)) results.push(null)
    else if (resultCall(message) !== null) {
      results.push(tree)
      answered = join(answered, wholeOf(tree))
    }
    show(tree)
  }

  function deliver(ids: readonly string[] | undefined): void {
    for (const id of ids ?? []) {
      const tree = waiting.get(id)
      if (!tree) continue
      waiting.delete(id)
      show(tree)
    }
  }

  /** A tool may retain what it was given and has read, and return it later. */
  function keep(callId: string | null, label: WrittenLabel | undefined): void {
    const call = callId === null ? undefined : calls.get(callId)
    if (call === undefined || label === undefined) return
    given.set(call.name, join(given.get(call.name) ?? TRUSTED, readLabel(label)))
  }

  /** The default label of a message. */
  function defaultOf(message: Message): LabelTree {
    const { id, sender, message_type: type } = message
    const shown = steps.get(id)
    if (shown) return { label: shown }
    if (resultCall(message) !== null || writerOf(message) !== null)
      return { label: madeBy(UNTRUSTED, `message:${id}`) }
    if (type === 'command-response' && isRunning) return { label: answered }
    return { label: isSpeaker(sender) ? TRUSTED : madeBy(UNTRUSTED, `message:${id}`) }
  }

  function treeOf(event: Extract<ConversationEvent, { type: 'NEW_MESSAGE' }>): LabelTree {
    return event.label === undefined ? defaultOf(event.payload) : readLabelTree(event.label)
  }

  function createdTree({ label, by, assetId, toolCallId }: AssetCreated): LabelTree {
    if (label !== undefined) return readLabelTree(label)
    if (by === 'agent') return { label: now() }
    const source = toolCallId === undefined ? `asset:${assetId}` : `call:${callIdOf(toolCallId)}`
    return { label: madeBy(UNTRUSTED, source) }
  }

  function variableTree(ref: VariableRef, instance?: string): LabelTree {
    const { kind, path } = ref
    if (kind === RESULT) {
      const tree = results[Number(ref.instance) - 1]
      return tree ? treeAt(tree, path) : { label: TRUSTED }
    }
    const own = data.at(formatLabel(kind, ref.instance), path)
    if (ref.instance !== undefined || instance === undefined) return own
    return joinTrees(data.at(formatLabel(kind, instance), path), own)
  }

  function assetTree({ id, fieldPath }: Pick<AssetRefParts, 'id' | 'fieldPath'>): LabelTree | null {
    const tree = assets.get(id)
    return tree ? treeAt(tree, fieldPath ?? []) : null
  }

  const variable = (ref: VariableRef, instance?: string): Label =>
    wholeOf(variableTree(ref, instance))

  function asset(ref: Pick<AssetRefParts, 'id' | 'fieldPath'>): Label {
    const tree = assetTree(ref)
    return tree ? wholeOf(tree) : UNKNOWN
  }

  function reference({ variables, assets: named }: FoundReference, own: OwnLabels = {}): Label {
    const read = variables.map((ref) => variable(ref, own.instance))
    return joinAll([...read, ...named.map(asset)])
  }

  function contextOf(callId: string): Label {
    const answer = calls.get(callId)?.answer
    return (answer === undefined ? undefined : steps.get(answer)) ?? now()
  }

  const handlers: { [T in ConversationEvent['type']]?: (event: Event<T>) => void } = {
    NEW_MESSAGE(event) {
      const tree = treeOf(event)
      if (event.deliver) {
        messages.set(event.payload.id, tree)
        waiting.set(event.payload.id, tree)
        if (isData(event.payload)) data.wait(event.payload, tree)
      } else say(event.payload, tree)
      keep(resultCall(event.payload), event.given)
    },
    MESSAGE_DELETED: ({ messageId }) => data.remove(messageId),
    ASSET_CREATED({ payload }) {
      const tree = createdTree(payload)
      const before = assets.get(payload.assetId)
      assets.set(payload.assetId, before ? joinTrees(before, tree) : tree)
      show(tree)
    },
    RUN_STARTED({ trust, messageIds }) {
      mode = trust ?? 'off'
      isRunning = true
      data.deliver(messageIds)
      deliver(messageIds)
    },
    RUN_CLAIMED({ trust }) {
      mode = trust ?? 'off'
    },
    RUN_FINISHED() {
      isRunning = false
    },
    RUN_ERROR() {
      isRunning = false
    },
    STEP_STARTED({ messageId, messageIds, commandIds }) {
      data.deliver(messageIds)
      deliver(messageIds)
      answered = TRUSTED
      context = now()
      // A command is its sender's own, whatever the model has seen.
      const sent = commandIds?.map((id) => wholeOf(messages.get(id) ?? { label: UNTRUSTED }))
      if (commandIds) commands.set(messageId, commandIds)
      steps.set(messageId, sent ? joinAll(sent) : context)
    },
    TOOL_CALL_END({ toolCallId, parentMessageId, call }) {
      calls.set(toolCallId, { name: call.name, answer: parentMessageId })
    },
    TOOL_ITEM_FINISHED({ toolCallId, item, label, given }) {
      keep(toolCallId, given)
      const known = items.get(toolCallId) ?? new Map<number, LabelTree>()
      known.set(item, label === undefined ? { label: UNTRUSTED } : readLabelTree(label))
      items.set(toolCallId, known)
    },
    DECLASSIFIED({ runId, bits: more }) {
      bits.set(runId, (bits.get(runId) ?? 0) + more)
    },
  }

  const self: Labels = {
    apply({ event }) {
      if (event.type === 'NEW_MESSAGE') data.arrived(event.payload.id)
      const handler = handlers[event.type] as ((event: ConversationEvent) => void) | undefined
      handler?.(event)
    },
    expect(events) {
      for (const event of events) {
        if (event.type !== 'NEW_MESSAGE' || event.deliver || !isData(event.payload)) continue
        data.expect(event.payload, treeOf(event))
      }
    },
    rewind: () => data.rewind(),
    message: (id) => messages.get(id) ?? { label: UNTRUSTED },
    result: (number) => results[number - 1] ?? null,
    asset,
    assetTree,
    variable,
    variableTree,
    reference,
    context: (messageId) => (messageId === undefined ? undefined : steps.get(messageId)) ?? now(),
    contextOf,
    everything: () => whole,
    given: (tool) => given.get(tool) ?? TRUSTED,
    items: (callId) => items.get(callId) ?? new Map(),
    declassified: (runId) => bits.get(runId) ?? 0,
  }
  return self
}

type Event<T extends ConversationEvent['type']> = Extract<ConversationEvent, { type: T }>

/** Returns the label of the parts of a value that a model in quarantine sees. */
export function visibleOf({ label, fields }: LabelTree): Label {
  if (label.integrity === 'untrusted') return TRUSTED
  return joinAll([label, ...Object.values(fields ?? {}).map(visibleOf)])
}

/** Returns the id of the call of an execution. The id of an item ends in its index. */
function callIdOf(toolCallId: string): string {
  return toolCallId.replace(/\/\d+$/, '')
}
