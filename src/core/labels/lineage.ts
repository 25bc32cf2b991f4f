import type { ConversationEvent, LogRecord } from '../events/events.ts'
import { isPlainObject } from '../json/json.ts'
import { isData, kindOf, labelOf, methodOf } from '../messages/data-block.ts'
import type { DataBlock, Message } from '../messages/message.ts'
import { RESULT, resultCall, resultName } from '../messages/results.ts'
import { isDeletedResult } from '../messages/tombstone.ts'
import { type AssetRefParts, isAssetRef, parseAssetRef } from '../refs/asset-ref.ts'
import { variablesIn } from '../refs/evaluate-variable.ts'
import type { FieldKey } from '../refs/field-key.ts'
import { referencesIn } from '../refs/references-in.ts'
import {
  formatLabel,
  formatVariable,
  parseVariableRef,
  type VariableRef,
} from '../refs/variable-ref.ts'

/** Something that values come from, or that is one: a message, a call with its result, an asset, a write of data. */
export interface LineageNode {
  /** `message:<id>`, `call:<id>`, `asset:<id>`, `data:<message id>`. */
  id: string
  type: 'message' | 'call' | 'asset' | 'data'
  /** What it is referred to by: `†result#3`, `asset://…`, `†state.total`; absent for a message, and a call without result. */
  ref?: string
  /** The tool's name, or the sender's role. */
  name?: string
}

/** That something was made of something else. */
export interface LineageEdge {
  from: string
  to: string
  /** The reference that the call was given, as its model wrote it; absent where one simply made the other. */
  ref?: string
}

/** Where a value came from and what came of it. */
export interface Lineage {
  /** What the reference names: more than one where several writes made the value. */
  of: readonly string[]
  /** Everything that it came from and everything that came from it, and itself. */
  nodes: readonly LineageNode[]
  /** Among these. */
  edges: readonly LineageEdge[]
}

/** The lineage of all values of a conversation: a fold of its log. */
export interface LineageGraph {
  apply(record: Pick<LogRecord, 'event'>): void
  /** Null for a reference that names nothing here. */
  lineage(ref: string): Lineage | null
}

interface Write {
  node: string
  block: DataBlock
}

interface Call {
  id: string
  args: Record<string, unknown>
  begun: boolean
}

/** Begins with nothing. */
export function createLineage(): LineageGraph {
  const nodes = new Map<string, LineageNode>()
  const edges: LineageEdge[] = []
  const linked = new Set<string>()
  const results: (string | null)[] = []
  const writes = new Map<string, Write[]>()
  const calls = new Map<string, Call>()

  function link(from: string, to: string, ref?: string): void {
    if (!nodes.has(from) || from === to) return
    const key = JSON.stringify([from, to, ref])
    if (linked.has(key)) return
    linked.add(key)
    edges.push({ from, to, ...(ref === undefined ? {} : { ref }) })
  }

  /** What wrote the value of a variable, as it is now. */
  function writersOf({ kind, path, ...ref }: VariableRef, instance?: string): string[] {
    if (kind === RESULT) {
      const call = results[Number(ref.instance) - 1]
      return call ? [`call:${call}`] : []
    }
    const own = writersAt(formatLabel(kind, ref.instance ?? instance), path)
    return own.length > 0 || ref.instance !== undefined
      ? own
      : writersAt(formatLabel(kind, undefined), path)
  }

  function writersAt(identity: string, path: readonly FieldKey[]): string[] {
    const found: string[] = []
    for (const { node, block } of (writes.get(identity) ?? []).toReversed()) {
      const at = block._path ?? []
      const shared = Math.min(at.length, path.length)
      if (!at.slice(0, shared).every((key, i) => String(key) === String(path[i]))) continue
      found.push(node)
      // What it set was the whole of it.
      if (methodOf(block) === 'set' && at.length <= path.length) break
    }
    return found
  }

  function begin(call: Call): void {
    if (call.begun) return
    call.begun = true
    const { _instance, _outputPath, _outputMethod, ...args } = call.args
    const instance = typeof _instance === 'string' ? _instance : undefined
    for (const { text, variables, assets } of referencesIn(args)) {
      const from = variables.flatMap((one) => writersOf(one, instance))
      for (const node of [...from, ...assets.map(({ id }) => `asset:${id}`)])
        link(node, `call:${call.id}`, text)
    }
  }

  function write(message: Message): void {
    const block = message.content as DataBlock | null
    if (!isPlainObject(block)) return
    const ref = formatVariable(
      { kind: kindOf(block), instance: block._instance },
      block._path ?? [],
    )
    const id = `data:${message.id}`
    nodes.set(id, { id, type: 'data', ref, name: message.sender?.participant_role })
    if (typeof block._call === 'string') link(`call:${block._call}`, id)
    const known = writes.get(labelOf(block)) ?? []
    known.push({ node: id, block })
    writes.set(labelOf(block), known)
  }

  function say(message: Message): void {
    if (isDeletedResult(message)) {
      results.push(null)
      return
    }
    const call = resultCall(message)
    if (call !== null) {
      results.push(call)
      const node = nodes.get(`call:${call}`)
      if (node) nodes.set(node.id, { ref: resultName(results.length), ...node })
    } else if (isData(message)) write(message)
    else named(message.id, message.sender?.participant_role)
  }

  function named(messageId: string, name?: string): string {
    const id = `message:${messageId}`
    const known = nodes.get(id)
    if (!known?.name) nodes.set(id, { id, type: 'message', ...(name ? { name } : {}) })
    return id
  }

  const handlers: { [T in ConversationEvent['type']]?: (event: Event<T>) => void } = {
    NEW_MESSAGE: ({ payload }) => say(payload),
    ASSET_CREATED({ payload: { assetId, ref, by, tool, toolCallId, messageId } }) {
      const id = `asset:${assetId}`
      if (!nodes.has(id)) nodes.set(id, { id, type: 'asset', ref, name: tool ?? by })
      if (toolCallId !== undefined) link(`call:${toolCallId.replace(/\/\d+$/, '')}`, id)
      if (messageId !== undefined) link(named(messageId), id)
    },
    TOOL_CALL_END({ toolCallId, parentMessageId, call }) {
      const id = `call:${toolCallId}`
      nodes.set(id, { id, type: 'call', name: call.name })
      link(named(parentMessageId), id)
      const args = isPlainObject(call.arguments) ? call.arguments : {}
      calls.set(toolCallId, { id: toolCallId, args, begun: false })
    },
    APPROVAL_REQUESTED: ({ toolCallId }) => beginCall(toolCallId),
    TOOL_STARTED: ({ toolCallId }) => beginCall(toolCallId),
  }

  function beginCall(id: string): void {
    const call = calls.get(id)
    if (call) begin(call)
  }

  function startOf(ref: string): string[] {
    if (nodes.has(ref)) return [ref]
    const expression = parseVariableRef(ref)
    if (expression) return variablesIn(expression).flatMap((one) => writersOf(one))
    if (!isAssetRef(ref)) return []
    const { id } = parseAssetRef(ref) as AssetRefParts
    return nodes.has(`asset:${id}`) ? [`asset:${id}`] : []
  }

  return {
    apply({ event }) {
      const handler = handlers[event.type] as ((event: ConversationEvent) => void) | undefined
      handler?.(event)
    },
    lineage(ref) {
      const of = [...new Set(startOf(ref))]
      if (of.length === 0) return null
      const found = new Set([...reached(of, edges, 'from'), ...reached(of, edges, 'to')])
      return {
        of,
        nodes: [...found].flatMap((id) => nodes.get(id) ?? []),
        edges: edges.filter(({ from, to }) => found.has(from) && found.has(to)),
      }
    },
  }
}

type Event<T extends ConversationEvent['type']> = Extract<ConversationEvent, { type: T }>

/** Everything that edges lead to from these, backwards (`from`) or forwards (`to`). */
function reached(
  start: readonly string[],
  edges: readonly LineageEdge[],
  way: 'from' | 'to',
): Set<string> {
  const back = way === 'from' ? 'to' : 'from'
  const next = Map.groupBy(edges, (edge) => edge[back])
  const found = new Set(start)
  for (const id of found) for (const edge of next.get(id) ?? []) found.add(edge[way])
  return found
}
