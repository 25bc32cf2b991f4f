import { type Board, createBoard } from '../core/board/board.ts'
import type { ConversationState } from '../core/events/conversation-state.ts'
import type { AssetCreated } from '../core/events/events.ts'
import { isPlainObject } from '../core/json/json.ts'
import type { Labels } from '../core/labels/labels.ts'
import { isRedacted, placeholder, redactValue } from '../core/labels/redact-value.ts'
import { partType } from '../core/messages/canonical-part.ts'
import { isData } from '../core/messages/data-block.ts'
import { type DataBlock, isDeletedResult, type Message } from '../core/messages/message.ts'
import { isOffloaded } from '../core/messages/offloaded.ts'
import { readMetadata } from '../core/messages/read-metadata.ts'
import { resultCall, resultName } from '../core/messages/results.ts'
import { isNewId } from '../core/new-id.ts'
import { isAssetRef, parseAssetRef } from '../core/refs/asset-ref.ts'
import type { PromptConversation } from './transcript.ts'

/** What redaction needs to know about an agent's tools. */
export interface RedactionOptions {
  /** Whether there is a tool with this name. */
  hasTool(name: string): boolean
  /** Returns a short description of a tool's results; null without an `outputSchema`. */
  shapeOf(tool: string): string | null
  /** Whether providers may fetch images that people name with `https:`. */
  takesUrls: boolean
}

/** The state of a conversation at one moment. */
interface RedactedConversation extends PromptConversation {
  state: PromptConversation['state'] & Pick<ConversationState, 'position'>
}

/** A conversation as a model in quarantine sees it, without untrusted values. */
export interface Redaction<T extends RedactedConversation = RedactedConversation> {
  of(conversation: T): T
  /** Whether the bytes of a reference must not be sent. */
  hides(ref: string): boolean
  /** Whether a reference may be shown although no trusted source has named it. */
  names(ref: string): boolean
}

/** Creates the redaction of one conversation. Each message is redacted once. */
export function createRedaction<T extends RedactedConversation>(
  labels: Labels,
  options: RedactionOptions,
): Redaction<T> {
  const shown = new WeakMap<Message, Message>()
  const assets = new WeakMap<AssetCreated, AssetCreated>()
  /**
   * The messages so far, with their redacted form. A deletion, or a message inserted between others, starts again.
   */
  let taken: Message[] = []
  let all: Message[] = []
  let deletion: unknown = null
  let results = 0
  let board: Board = createBoard()
  let last: { position: number; given: T; made: T } | null = null

  function hides(ref: string): boolean {
    const parts = isAssetRef(ref) ? parseAssetRef(ref) : null
    if (!parts) return !options.takesUrls
    return labels.asset({ id: parts.id }).integrity === 'untrusted'
  }

  // An id that byref made contains no words of a user or a model.
  const names = (ref: string): boolean => !hides(ref) || isNewId(parseAssetRef(ref)?.id ?? '')

  function redacted(message: Message, number: number): Message {
    const known = shown.get(message)
    if (known) return known
    const made = redactMessage(message, { labels, options, hides, number })
    shown.set(message, made)
    return made
  }

  function redactedAsset(asset: AssetCreated): AssetCreated {
    if (labels.asset({ id: asset.assetId }).integrity === 'trusted') return asset
    const { name: _, meta: __, ...rest } = asset
    const made = assets.get(asset) ?? { ...rest, mime: 'application/octet-stream' }
    assets.set(asset, made)
    return made
  }

  function begin(): void {
    taken = []
    all = []
    results = 0
    board = createBoard()
  }

  function take(message: Message): void {
    if (resultCall(message) !== null || isDeletedResult(message)) results++
    const made = redacted(message, results)
    taken.push(message)
    all.push(made)
    if (!isData(made)) return
    try {
      board.append(made)
    } catch {
      // A placeholder accepts no writes into it.
    }
  }

  return {
    hides,
    names,
    of(conversation) {
      const { state } = conversation
      const { position } = state
      if (last && last.position === position && last.given === conversation) return last.made
      const { messages } = state
      const isOn = taken.length <= messages.length && taken.at(-1) === messages[taken.length - 1]
      if (!isOn || deletion !== (state.deletion ?? null)) begin()
      deletion = state.deletion ?? null
      for (const message of messages.slice(taken.length)) take(message)
      const made = {
        ...conversation,
        board,
        state: { ...state, messages: all, assets: state.assets.map(redactedAsset) },
      }
      last = { position, given: conversation, made }
      return made
    },
  }
}

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

/** Returns the sender without the name that they chose. */
function namelessSender({ sender }: Message): Message['sender'] {
  const { participant_role: role } = sender
  const known = ROLES.has(role) ? role : 'user'
  return { participant_id: known, participant_role: known }
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

function redactResult(message: Message, { labels, options, number }: RedactionScope): Message {
  const tree = labels.message(message.id)
  const name = resultName(number)
  const { error, written_to, tool_call_id } = message.metadata.tool_result ?? { tool_call_id: '' }
  const kept = { tool_call_id, ...(written_to ? { written_to } : {}) }
  const json = { ...message, content_type: 'application/json' }
  if (error) {
    const reason = `the call failed; why is not shown, since it is not trusted: ${name}.message`
    const failure = { code: 'tool_failed', message: reason }
    return { ...json, content: null, metadata: { tool_result: { ...kept, error: failure } } }
  }
  const metadata = { tool_result: kept }
  const inside = valueIn(message)
  // The reference of a new version may have a label of its own.
  const isNamed = Object.hasOwn(tree.fields ?? {}, 'assetRef') && !isOffloaded(inside)
  const isWhole =
    tree.label.integrity === 'untrusted' ||
    (isReference(inside) && !isNamed) ||
    written_to !== undefined
  if (!isWhole) return { ...json, content: { [name]: redactValue(inside, tree) }, metadata }
  const tool = message.sender.participant_id
  const shape = options.shapeOf(tool)
  const text = `${name} = ${placeholder(inside)}${shape === null ? '' : `, which holds ${shape}`}`
  return { ...message, content_type: 'text/plain', content: text, metadata }
}

/** Removes the names and types of hidden files from a value. Returns the same value if it names none. */
function withoutFileNames(value: unknown, hides: Redaction['hides']): unknown {
  if (Array.isArray(value)) {
    const made = value.map((one) => withoutFileNames(one, hides))
    return made.some((one, i) => one !== value[i]) ? made : value
  }
  if (!isPlainObject(value)) return value
  const { assetRef, kind } = value
  if (typeof assetRef === 'string' && isAssetRef(assetRef) && hides(assetRef))
    return { assetRef, kind, mimeType: 'application/octet-stream' }
  const made = Object.entries(value).map(([key, one]) => [key, withoutFileNames(one, hides)])
  const isSame = made.every(([key, one]) => one === value[key as string])
  return isSame ? value : Object.fromEntries(made)
}

/** Returns the value of a result, also if its message has only a short form. */
function valueIn({ content, metadata }: Message): unknown {
  if (metadata.tool_result?.written_to === undefined || !isPlainObject(content)) return content
  if ('value' in content) return content.value
  return 'assetRef' in content ? content : content.preview
}

function isReference(value: unknown): boolean {
  return isPlainObject(value) && (value.offloaded === true || value.assetRef !== undefined)
}

/** Removes names and types of untrusted files from a trusted text. */
function redactNames(message: Message, { hides }: RedactionScope): Message {
  const { attachments } = message.metadata ?? {}
  const content = Array.isArray(message.content)
    ? message.content.map((part) => redactPart(part, hides))
    : message.content
  const isSame = content === message.content && !attachments?.length
  if (isSame) return message
  const own = readMetadata(message).attachments.map((one) => {
    if (!hides(one.assetRef)) return one
    return { kind: one.kind, assetRef: one.assetRef, mimeType: 'application/octet-stream' }
  })
  return { ...message, content, metadata: { ...message.metadata, attachments: own } }
}

function redactPart(part: unknown, hides: Redaction['hides']): unknown {
  if (!isPlainObject(part)) return part
  const { type, [partType(part)]: holder } = part
  if (type === 'text' || !isPlainObject(holder)) return part
  const url = isPlainObject(holder.url) ? holder.url.assetRef : holder.url
  if (typeof url === 'string' && hides(url)) return { type, [partType(part)]: { url } }
  return part
}
