import { type Board, createBoard } from '../core/board/board.ts'
import type { ConversationState } from '../core/events/conversation-state.ts'
import type { AssetCreated } from '../core/events/events.ts'
import { isPlainObject } from '../core/json/json.ts'
import type { Labels } from '../core/labels/labels.ts'
import { isRedacted, placeholder, redactedText, redactValue } from '../core/labels/redact-value.ts'
import { partType } from '../core/messages/canonical-part.ts'
import { isData } from '../core/messages/data-block.ts'
import { type DataBlock, isDeletedResult, type Message } from '../core/messages/message.ts'
import { isOffloaded } from '../core/messages/offloaded.ts'
import { readMetadata } from '../core/messages/read-metadata.ts'
import { resultCall, resultName } from '../core/messages/results.ts'
import { isNewId } from '../core/new-id.ts'
import { oncePer } from '../core/once-resolved.ts'
import { isAssetRef, parseAssetRef } from '../core/refs/asset-ref.ts'
import type { PromptConversation } from './transcript.ts'

/** Options of {@link Redaction}. */
export interface RedactionOptions {
  /** Whether there is a tool with this name. */
  hasTool(name: string): boolean
  /** Whether providers may fetch images that people name with `https:`. */
  takesUrls: boolean
}

/** The state of a conversation at one moment. */
interface RedactedConversation extends PromptConversation {
  state: PromptConversation['state'] & Pick<ConversationState, 'position'>
}

/** Shows a conversation as a model in quarantine sees it: without untrusted values. Redacts each message once. */
export class Redaction<T extends RedactedConversation = RedactedConversation> {
  readonly #labels: Labels
  readonly #options: RedactionOptions
  readonly #redacted = oncePer((message: Message) =>
    redactMessage(message, {
      labels: this.#labels,
      options: this.#options,
      hides: (ref) => this.hides(ref),
      number: this.#results,
    }),
  )
  /**
   * The messages so far, and their redacted form. Both start again after a deletion, or if a message was inserted
   * before others.
   */
  #messages: Message[] = []
  #redactedMessages: Message[] = []
  #deletion: unknown = null
  #results = 0
  #board: Board = createBoard()
  #last: { position: number; conversation: T; redacted: T } | null = null

  constructor(labels: Labels, options: RedactionOptions) {
    this.#labels = labels
    this.#options = options
  }

  of(conversation: T): T {
    const { state } = conversation
    const { position, messages } = state
    const last = this.#last
    if (last && last.position === position && last.conversation === conversation)
      return last.redacted
    const count = this.#messages.length
    const continues = count <= messages.length && this.#messages.at(-1) === messages[count - 1]
    if (!continues || this.#deletion !== (state.deletion ?? null)) this.#startAgain()
    this.#deletion = state.deletion ?? null
    for (const message of messages.slice(this.#messages.length)) this.#add(message)
    const assets = state.assets.map((asset) => this.#redactedAsset(asset))
    const redacted = {
      ...conversation,
      board: this.#board,
      state: { ...state, messages: this.#redactedMessages, assets },
    }
    this.#last = { position, conversation, redacted }
    return redacted
  }

  /** Whether the model must not receive the bytes that a reference names. */
  hides(ref: string): boolean {
    const parts = isAssetRef(ref) ? parseAssetRef(ref) : null
    if (!parts) return !this.#options.takesUrls
    return this.#labels.asset({ id: parts.id }).integrity === 'untrusted'
  }

  /**
   * Whether a reference may be shown even if no trusted source has named it. An id that byref created contains no text
   * of a user or a model.
   */
  names(ref: string): boolean {
    return !this.hides(ref) || isNewId(parseAssetRef(ref)?.id ?? '')
  }

  #startAgain(): void {
    this.#messages = []
    this.#redactedMessages = []
    this.#results = 0
    this.#board = createBoard()
  }

  #add(message: Message): void {
    if (resultCall(message) !== null || isDeletedResult(message)) this.#results++
    const redacted = this.#redacted(message)
    this.#messages.push(message)
    this.#redactedMessages.push(redacted)
    if (!isData(redacted)) return
    try {
      this.#board.append(redacted)
    } catch {
      // The write goes into a value that a placeholder replaces.
    }
  }

  #redactedAsset(asset: AssetCreated): AssetCreated {
    const { integrity } = this.#labels.asset({ id: asset.assetId })
    return integrity === 'trusted' ? asset : namelessAsset(asset)
  }
}

/** Returns an asset without the words of whoever made it. */
const namelessAsset = oncePer(
  ({ name: _, meta: __, ...rest }: AssetCreated): AssetCreated => ({
    ...rest,
    mime: 'application/octet-stream',
  }),
)

interface RedactionScope extends Pick<Redaction, 'hides'> {
  labels: Labels
  options: RedactionOptions
  /** The number of results so far. */
  number: number
}

function redactMessage(message: Message, scope: RedactionScope): Message {
  const tree = scope.labels.message(message.id)
  const isHidden = tree.label.integrity === 'untrusted'
  if (isData(message)) return redactData(message, scope)
  if (resultCall(message) !== null) return isRedacted(tree) ? redactResult(message, scope) : message
  if (!isHidden) return redactNames(message, scope)
  const { id, timestamp, message_type } = message
  const sender = namelessSender(message)
  const plain = { id, sender, message_type, timestamp, content_type: 'text/plain' }
  const text = `[Not shown: ${placeholder(message.content)}]`
  if (sender.participant_role !== 'assistant') return { ...plain, content: text, metadata: {} }
  const { options } = scope
  const calls = readMetadata(message).calls.map(({ id, name, via }) => {
    const call = { id, name: options.hasTool(name) ? name : 'unknown_tool', arguments: {} }
    return via !== undefined && options.hasTool(via) ? { ...call, via } : call
  })
  return {
    ...plain,
    sender,
    content: text,
    metadata: calls.length > 0 ? { tool_calls: calls } : {},
  }
}

const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'tool', 'plugin'])

/** Returns the sender without a name, because the sender may have chosen it. */
function namelessSender({ sender }: Message): Message['sender'] {
  const { participant_role: role } = sender
  const safeRole = ROLES.has(role) ? role : 'user'
  return { participant_id: safeRole, participant_role: safeRole }
}

function redactData(message: Message, { labels, hides }: RedactionScope): Message {
  const { data, description, schema, output, ...rest } = message.content as DataBlock
  const tree = labels.message(message.id)
  const isHidden = tree.label.integrity === 'untrusted'
  const words = isHidden ? {} : { description, schema, output }
  const block = {
    ...rest,
    ...words,
    ...(data === undefined ? {} : { data: withoutFileNames(redactValue(data, tree), hides) }),
  }
  const { sender, metadata } = isHidden
    ? { sender: namelessSender(message), metadata: {} }
    : message
  return { ...message, sender, metadata, content: block }
}

function redactResult(message: Message, { labels, number }: RedactionScope): Message {
  const tree = labels.message(message.id)
  const name = resultName(number)
  const { error, written_to, tool_call_id } = message.metadata.tool_result ?? { tool_call_id: '' }
  const kept = { tool_call_id, ...(written_to ? { written_to } : {}) }
  const json = { ...message, content_type: 'application/json' }
  if (error) {
    const reason = `the call failed. Its error message is not shown, because it is not trusted: ${name}.message`
    const failure = { code: 'tool_failed', message: reason }
    return { ...json, content: null, metadata: { tool_result: { ...kept, error: failure } } }
  }
  const metadata = { tool_result: kept }
  const value = valueIn(message)
  // The reference of a new version may have its own label.
  const hasOwnLabel = Object.hasOwn(tree.fields ?? {}, 'assetRef') && !isOffloaded(value)
  const isWhole =
    tree.label.integrity === 'untrusted' ||
    (isReference(value) && !hasOwnLabel) ||
    written_to !== undefined
  if (!isWhole) return { ...json, content: { [name]: redactValue(value, tree) }, metadata }
  // The tool's description already lists the fields of the result.
  const text = redactedText(name, value, null)
  return { ...message, content_type: 'text/plain', content: text, metadata }
}

/** Removes the names and types of hidden files from a value. Returns the same value if it has no hidden files. */
function withoutFileNames(value: unknown, hides: Redaction['hides']): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutFileNames(item, hides))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  if (!isPlainObject(value)) return value
  const { assetRef, kind } = value
  if (typeof assetRef === 'string' && isAssetRef(assetRef) && hides(assetRef))
    return { assetRef, kind, mimeType: 'application/octet-stream' }
  const entries = Object.entries(value).map(([key, item]) => [key, withoutFileNames(item, hides)])
  const isSame = entries.every(([key, item]) => item === value[key as string])
  return isSame ? value : Object.fromEntries(entries)
}

/** Returns the value of a result. If it was written to the board, its message may have only a short form. */
function valueIn({ content, metadata }: Message): unknown {
  if (metadata.tool_result?.written_to === undefined || !isPlainObject(content)) return content
  if ('value' in content) return content.value
  return 'assetRef' in content ? content : content.preview
}

function isReference(value: unknown): boolean {
  return isPlainObject(value) && (value.offloaded === true || value.assetRef !== undefined)
}

/** Removes the names and types of untrusted files from a trusted message. */
function redactNames(message: Message, { hides }: RedactionScope): Message {
  const { attachments } = message.metadata ?? {}
  const content = Array.isArray(message.content)
    ? message.content.map((part) => redactPart(part, hides))
    : message.content
  const isSame = content === message.content && !attachments?.length
  if (isSame) return message
  const redacted = readMetadata(message).attachments.map((one) => {
    if (!hides(one.assetRef)) return one
    return { kind: one.kind, assetRef: one.assetRef, mimeType: 'application/octet-stream' }
  })
  return { ...message, content, metadata: { ...message.metadata, attachments: redacted } }
}

function redactPart(part: unknown, hides: Redaction['hides']): unknown {
  if (!isPlainObject(part)) return part
  const { type, [partType(part)]: holder } = part
  if (type === 'text' || !isPlainObject(holder)) return part
  const url = isPlainObject(holder.url) ? holder.url.assetRef : holder.url
  if (typeof url === 'string' && hides(url)) return { type, [partType(part)]: { url } }
  return part
}
