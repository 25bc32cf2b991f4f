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

/** The labels in one conversation: a fold of its log, which never looks at a value. */
export interface Labels {
  /** Takes the next record of the log. */
  apply(record: Pick<LogRecord, 'event'>): void
  /** Takes what is being appended: until it has come, what it writes may be read already. */
  expect(events: readonly ConversationEvent[]): void
  /** What was expected does not come. */
  rewind(): void
  /** Of a message's content; of a data message, its `data`. */
  message(id: string): LabelTree
  /** Of `†result#N`; null where there is none. */
  result(number: number): LabelTree | null
  /** Of everything in the value at a reference. An asset that the conversation does not know is untrusted and private. */
  asset(ref: Pick<AssetRefParts, 'id' | 'fieldPath'>): Label
  /** Of the value at a reference, by field. Null for an asset that the conversation does not know. */
  assetTree(ref: Pick<AssetRefParts, 'id' | 'fieldPath'>): LabelTree | null
  /** Of everything in the value of a variable, in its instance and, where the reference names none, the global one. */
  variable(ref: VariableRef, instance?: string): Label
  /** The same, by field. */
  variableTree(ref: VariableRef, instance?: string): LabelTree
  /** Of everything that a reference names. */
  reference(found: FoundReference, own?: OwnLabels): Label
  /** Of everything that the model had been shown when it wrote an answer; now, without its id. */
  context(messageId?: string): Label
  /** The same, of the answer that made a call. */
  contextOf(callId: string): Label
  /** Of everything in the conversation together. */
  everything(): Label
  /** Of all that calls of a tool were given and read so far, by what their results say. */
  given(tool: string): Label
  /** Of the results of a mapped call's items. */
  items(callId: string): ReadonlyMap<number, LabelTree>
  /** How many bits of what is untrusted a run has shown its model. */
  declassified(runId: string): number
}

/** Where a call reads. */
export interface OwnLabels {
  /** The instance that it reads first. */
  instance?: string
}

/** Whose words are their own: what anybody else says is somebody's data. */
const SPEAKERS: ReadonlySet<string> = new Set(['user', 'system', 'assistant'])

/** Whether a message's words are its sender's own: a person's, the app's, or the model's. */
export function isSpeaker(sender: Message['sender'] | undefined): boolean {
  return sender !== undefined && SPEAKERS.has(sender.participant_role)
}

/** Begins with a conversation in which nothing has happened. */
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
  /** Of all that is in the conversation, and of what of it a model in quarantine is shown. */
  let whole: Label = TRUSTED
  let visible: Label = TRUSTED
  /** Of the results of the last step. */
  let answered: Label = TRUSTED
  let isRunning = false

  function show(tree: LabelTree): void {
    whole = join(whole, wholeOf(tree))
    visible = join(visible, visibleOf(tree))
  }

  /** Of what the model has been shown, and is with its next step. */
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

  /** A tool may keep what it was given and read, and give it back in a later result. */
  function keep(callId: string | null, label: WrittenLabel | undefined): void {
    const call = callId === null ? undefined : calls.get(callId)
    if (call === undefined || label === undefined) return
    given.set(call.name, join(given.get(call.name) ?? TRUSTED, readLabel(label)))
  }

  /** What a message is where nobody says it. */
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
      // A command is its sender's, whatever the model was shown.
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

/** The label of what of a value is shown where nothing untrusted is. */
export function visibleOf({ label, fields }: LabelTree): Label {
  if (label.integrity === 'untrusted') return TRUSTED
  return joinAll([label, ...Object.values(fields ?? {}).map(visibleOf)])
}

/** The call of an execution's id, which for an item has its index behind it. */
function callIdOf(toolCallId: string): string {
  return toolCallId.replace(/\/\d+$/, '')
}
