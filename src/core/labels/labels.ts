import type {
  AssetCreated,
  ConversationEvent,
  EventOf,
  LogRecord,
  TrustMode,
} from '../events/events.ts'
import { isData, writerOf } from '../messages/data-block.ts'
import { isDeletedResult, type Message } from '../messages/message.ts'
import { RESULT, resultCall, resultNumber } from '../messages/results.ts'
import type { AssetRefParts } from '../refs/asset-ref.ts'
import { callIdOf } from '../refs/item-call.ts'
import type { FoundReference } from '../refs/references-in.ts'
import { formatIdentity, type VariableRef } from '../refs/variable-ref.ts'
import { DataLabels } from './data-labels.ts'
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
import {
  joinTrees,
  type LabelTree,
  readLabelTree,
  treeAt,
  type WrittenLabelTree,
  wholeOf,
} from './label-tree.ts'

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
  return new Labels()
}

/** How much a call reveals about untrusted values, in bits of its run's budget. */
export interface Revealed {
  toolCallId: string
  runId: string
  bits: number
}

/**
 * The labels in one conversation. It is a fold of the log that never reads values. It also has the labels that calls in
 * progress may retain and the bits that they have reserved, which are not logged yet.
 */
export class Labels {
  readonly #messages = new Map<string, LabelTree>()
  readonly #assets = new Map<string, LabelTree>()
  readonly #results: (LabelTree | null)[] = []
  readonly #steps = new Map<string, Label>()
  readonly #calls = new Map<string, { name: string; answer: string }>()
  readonly #items = new Map<string, Map<number, LabelTree>>()
  readonly #retained = new Map<string, Label>()
  /** The logged bits of each run, and of each call. */
  readonly #bits = new Map<string, number>()
  readonly #paid = new Map<string, number>()
  /** The bits that calls have reserved, by call. */
  readonly #reserved = new Map<string, Revealed>()
  readonly #waiting = new Map<string, LabelTree>()
  readonly #data = new DataLabels()
  #mode: TrustMode = 'off'
  #context: Label = TRUSTED
  /** The label of the whole conversation, and of the part that a model in quarantine sees. */
  #whole: Label = TRUSTED
  #visible: Label = TRUSTED
  /** The joined label of the current step's results. */
  #stepResults: Label = TRUSTED
  #isRunning = false

  /** Adds the next record of the log. */
  apply({ event }: Pick<LogRecord, 'event'>): void {
    switch (event.type) {
      case 'NEW_MESSAGE':
        this.#arrive(event)
        break
      case 'MESSAGE_DELETED':
        this.#data.remove(event.messageId)
        break
      case 'ASSET_CREATED':
        this.#create(event.payload)
        break
      case 'RUN_STARTED':
        this.#mode = event.trust ?? 'off'
        this.#isRunning = true
        this.#deliver(event.messageIds)
        break
      case 'RUN_CLAIMED':
        this.#mode = event.trust ?? 'off'
        break
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        this.#isRunning = false
        break
      case 'STEP_STARTED':
        this.#beginStep(event)
        break
      case 'TOOL_CALL_END': {
        const { toolCallId, parentMessageId, call } = event
        this.#calls.set(toolCallId, { name: call.name, answer: parentMessageId })
        // A model may use the same id for another call.
        this.#paid.delete(toolCallId)
        break
      }
      case 'TOOL_FINISHED':
        this.#keepOf(event.toolCallId, event.retained)
        if (event.item !== undefined) this.#addItem(event.toolCallId, event.item, event.label)
        break
      case 'DECLASSIFIED':
        this.#spend(event)
    }
  }

  /** Adds events that are being appended, because their values may be read before the log confirms them. */
  putAhead(events: readonly ConversationEvent[]): void {
    for (const event of events) {
      if (event.type !== 'NEW_MESSAGE' || event.deliver || !isData(event.payload)) continue
      this.#data.putAhead(event.payload, this.#treeOf(event))
    }
  }

  /** Removes events that were expected and not appended. */
  rewind(): void {
    this.#data.rewind()
  }

  /** Returns the label of a message's content, or of a data message's `data`. */
  message(id: string): LabelTree {
    return this.#messages.get(id) ?? { label: UNTRUSTED }
  }

  /** Returns the label of `†result#N`; null if there is none. */
  result(number: number): LabelTree | null {
    return this.#results[number - 1] ?? null
  }

  /**
   * Returns the label of an asset reference, with all fields. An asset that the conversation does not know is
   * untrusted and private.
   */
  asset(ref: Pick<AssetRefParts, 'id' | 'fieldPath'>): Label {
    const tree = this.assetTree(ref)
    return tree ? wholeOf(tree) : UNKNOWN
  }

  /** Returns the labels of an asset reference by field. Null for an asset that the conversation does not know. */
  assetTree({ id, fieldPath }: Pick<AssetRefParts, 'id' | 'fieldPath'>): LabelTree | null {
    const tree = this.#assets.get(id)
    return tree ? treeAt(tree, fieldPath ?? []) : null
  }

  /** Returns the label of a variable with all fields, in its instance and, if it names none, also globally. */
  variable(ref: VariableRef, instance?: string): Label {
    return wholeOf(this.variableTree(ref, instance))
  }

  /** Returns the same by field. */
  variableTree(ref: VariableRef, instance?: string): LabelTree {
    const { kind, path } = ref
    if (kind === RESULT) {
      const tree = this.result(resultNumber(ref))
      return tree ? treeAt(tree, path) : { label: TRUSTED }
    }
    const scoped = this.#data.at(formatIdentity(kind, ref.instance), path)
    if (ref.instance !== undefined || instance === undefined) return scoped
    return joinTrees(this.#data.at(formatIdentity(kind, instance), path), scoped)
  }

  /** Returns the label of everything that a reference names. */
  reference({ variables, assets }: FoundReference, { instance }: OwnLabels = {}): Label {
    const read = variables.map((ref) => this.variable(ref, instance))
    return joinAll([...read, ...assets.map((ref) => this.asset(ref))])
  }

  /** Returns the label of everything the model had seen when it wrote an answer. Without an id: until now. */
  context(messageId?: string): Label {
    return (messageId === undefined ? undefined : this.#steps.get(messageId)) ?? this.#nextContext()
  }

  /** Returns the same for the answer that contains a call. */
  contextOf(callId: string): Label {
    return this.context(this.#calls.get(callId)?.answer)
  }

  /** Returns the label of the whole conversation. */
  everything(): Label {
    return this.#whole
  }

  /**
   * Returns the label of everything that a tool received and has read in its calls so far, according to their results
   * and to `keep`.
   */
  retainedBy(tool: string): Label {
    return this.#retained.get(tool) ?? TRUSTED
  }

  /** Adds to what a tool may retain. Returns the label of all of it. */
  keep(tool: string, label: Label): Label {
    const all = join(this.retainedBy(tool), label)
    this.#retained.set(tool, all)
    return all
  }

  /** Returns the label of the results of a mapped call's items. */
  items(callId: string): ReadonlyMap<number, LabelTree> {
    return this.#items.get(callId) ?? new Map()
  }

  /** Returns how many bits about untrusted values a run has revealed, according to its log. */
  declassified(runId: string): number {
    return this.#bits.get(runId) ?? 0
  }

  /**
   * Reserves bits of a run's budget for a call, until the log has them or `release` is called. Returns the bits to log,
   * without those that the log already has for this call. Null if too few are left. Then nothing is reserved.
   */
  reserve({ toolCallId, runId, bits }: Revealed, budget: number): number | null {
    this.release(toolCallId)
    const missing = bits - (this.#paid.get(toolCallId) ?? 0)
    if (missing <= 0) return 0
    let total = this.declassified(runId) + missing
    for (const one of this.#reserved.values()) if (one.runId === runId) total += one.bits
    if (total > budget) return null
    this.#reserved.set(toolCallId, { toolCallId, runId, bits: missing })
    return missing
  }

  /** Frees the bits that a call has reserved and that the log does not have. */
  release(toolCallId: string): void {
    this.#reserved.delete(toolCallId)
  }

  #spend({ toolCallId, runId, bits }: Revealed): void {
    this.release(toolCallId)
    this.#bits.set(runId, this.declassified(runId) + bits)
    this.#paid.set(toolCallId, (this.#paid.get(toolCallId) ?? 0) + bits)
  }

  #arrive(event: EventOf<'NEW_MESSAGE'>): void {
    const { payload: message, deliver, retained } = event
    this.#data.arrived(message.id)
    const tree = this.#treeOf(event)
    this.#messages.set(message.id, tree)
    if (deliver) {
      this.#waiting.set(message.id, tree)
      if (isData(message)) this.#data.wait(message, tree)
    } else this.#add(message, tree)
    this.#keepOf(resultCall(message), retained)
  }

  #add(message: Message, tree: LabelTree): void {
    if (isData(message)) this.#data.write(message, tree)
    if (isDeletedResult(message)) this.#results.push(null)
    else if (resultCall(message) !== null) {
      this.#results.push(tree)
      this.#stepResults = join(this.#stepResults, wholeOf(tree))
    }
    this.#show(tree)
  }

  #create(asset: AssetCreated): void {
    const tree = this.#createdTree(asset)
    const before = this.#assets.get(asset.assetId)
    this.#assets.set(asset.assetId, before ? joinTrees(before, tree) : tree)
    this.#show(tree)
  }

  #deliver(messageIds: readonly string[] = []): void {
    this.#data.deliver(messageIds)
    for (const id of messageIds) {
      const tree = this.#waiting.get(id)
      if (!tree) continue
      this.#waiting.delete(id)
      this.#show(tree)
    }
  }

  #beginStep({ messageId, messageIds, commandIds }: EventOf<'STEP_STARTED'>): void {
    this.#deliver(messageIds)
    this.#stepResults = TRUSTED
    this.#context = this.#nextContext()
    // A command has its sender's label, because no model wrote it.
    const sent = commandIds?.map((id) => wholeOf(this.message(id)))
    this.#steps.set(messageId, sent ? joinAll(sent) : this.#context)
  }

  #addItem(toolCallId: string, item: number, label: WrittenLabelTree | undefined): void {
    const known = this.#items.get(toolCallId) ?? new Map<number, LabelTree>()
    known.set(item, label === undefined ? { label: UNTRUSTED } : readLabelTree(label))
    this.#items.set(toolCallId, known)
  }

  /** Adds to what a tool may retain: everything that a call received and has read. */
  #keepOf(callId: string | null, label: WrittenLabel | undefined): void {
    const call = callId === null ? undefined : this.#calls.get(callId)
    if (call === undefined || label === undefined) return
    this.keep(call.name, readLabel(label))
  }

  #show(tree: LabelTree): void {
    this.#whole = join(this.#whole, wholeOf(tree))
    this.#visible = join(this.#visible, visibleOf(tree))
  }

  /** The label of everything that the model will have seen in its next step. */
  #nextContext(): Label {
    return join(this.#context, this.#mode === 'quarantine' ? this.#visible : this.#whole)
  }

  #treeOf({ label, payload }: EventOf<'NEW_MESSAGE'>): LabelTree {
    return label === undefined ? this.#defaultOf(payload) : readLabelTree(label)
  }

  /** The default label of a message. */
  #defaultOf(message: Message): LabelTree {
    const { id, sender, message_type: type } = message
    const shown = this.#steps.get(id)
    if (shown) return { label: shown }
    const untrusted = { label: madeBy(UNTRUSTED, `message:${id}`) }
    if (resultCall(message) !== null || writerOf(message) !== null) return untrusted
    if (type === 'command-response' && this.#isRunning) return { label: this.#stepResults }
    return isSpeaker(sender) ? { label: TRUSTED } : untrusted
  }

  #createdTree({ label, by, assetId, toolCallId }: AssetCreated): LabelTree {
    if (label !== undefined) return readLabelTree(label)
    if (by === 'agent') return { label: this.#nextContext() }
    const source = toolCallId === undefined ? `asset:${assetId}` : `call:${callIdOf(toolCallId)}`
    return { label: madeBy(UNTRUSTED, source) }
  }
}

/** Returns the label of the parts of a value that a model in quarantine sees. */
export function visibleOf({ label, fields }: LabelTree): Label {
  if (label.integrity === 'untrusted') return TRUSTED
  return joinAll([label, ...Object.values(fields ?? {}).map(visibleOf)])
}
