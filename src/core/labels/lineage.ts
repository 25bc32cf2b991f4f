import type { AssetCreated, EventOf, LogRecord } from '../events/events.ts'
import { isPlainObject } from '../json/json.ts'
import { identityOf, isData, kindOf, methodOf } from '../messages/data-block.ts'
import { type DataBlock, isDeletedResult, type Message } from '../messages/message.ts'
import { RESULT, resultCall, resultName, resultNumber } from '../messages/results.ts'
import { type AssetRefParts, isAssetRef, parseAssetRef } from '../refs/asset-ref.ts'
import type { FieldKey } from '../refs/field-key.ts'
import { callIdOf } from '../refs/item-call.ts'
import { ownInstance } from '../refs/own-instance.ts'
import { referencesIn } from '../refs/references-in.ts'
import {
  formatIdentity,
  formatVariable,
  parseVariableRef,
  type VariableRef,
  variablesIn,
} from '../refs/variable-ref.ts'

/** A node of the lineage: a message, a call with its result, an asset, or a write to the board. */
export interface LineageNode {
  /** `message:<id>`, `call:<id>`, `asset:<id>`, `data:<message id>`. */
  id: string
  type: 'message' | 'call' | 'asset' | 'data'
  /**
   * Its reference: `†result#3`, `asset://…`, `†state.total`. Absent for a message, and for a call without a result.
   */
  ref?: string
  /** The name of the tool, or the role of the sender. */
  name?: string
}

/** An edge: one node was made from another. */
export interface LineageEdge {
  from: string
  to: string
  /** The reference in the arguments of the call, as the model wrote it. Absent if one node simply created the other. */
  ref?: string
}

/** The origin of a value, and what was made from it. */
export interface Lineage {
  /** The nodes that the reference names. There are several if several writes made the value. */
  of: readonly string[]
  /** The node itself, everything it was made from, and everything that was made from it. */
  nodes: readonly LineageNode[]
  /** The edges among these nodes. */
  edges: readonly LineageEdge[]
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

/** Creates an empty lineage. */
export function createLineage(): LineageGraph {
  return new LineageGraph()
}

/** The lineage of all values of a conversation. It is a fold of the log. */
export class LineageGraph {
  readonly #nodes = new Map<string, LineageNode>()
  readonly #edges: LineageEdge[] = []
  readonly #linked = new Set<string>()
  readonly #results: (string | null)[] = []
  readonly #writes = new Map<string, Write[]>()
  readonly #calls = new Map<string, Call>()

  apply({ event }: Pick<LogRecord, 'event'>): void {
    switch (event.type) {
      case 'NEW_MESSAGE':
        this.#addMessage(event.payload)
        break
      case 'ASSET_CREATED':
        this.#addAsset(event.payload)
        break
      case 'TOOL_CALL_END':
        this.#addCall(event)
        break
      case 'APPROVAL_REQUESTED':
      case 'TOOL_STARTED':
        this.#beginCall(event.toolCallId)
        break
    }
  }

  /** Returns the lineage of a reference; null if it names nothing. */
  lineage(ref: string): Lineage | null {
    const of = [...new Set(this.#startOf(ref))]
    if (of.length === 0) return null
    const edges = this.#edges
    const found = new Set([...reached(of, edges, 'from'), ...reached(of, edges, 'to')])
    return {
      of,
      nodes: [...found].flatMap((id) => this.#nodes.get(id) ?? []),
      edges: edges.filter(({ from, to }) => found.has(from) && found.has(to)),
    }
  }

  #addMessage(message: Message): void {
    if (isDeletedResult(message)) {
      this.#results.push(null)
      return
    }
    const call = resultCall(message)
    if (call !== null) {
      this.#results.push(call)
      const node = this.#nodes.get(`call:${call}`)
      if (node) this.#nodes.set(node.id, { ref: resultName(this.#results.length), ...node })
    } else if (isData(message)) this.#addWrite(message)
    else this.#messageNode(message.id, message.sender?.participant_role)
  }

  #addAsset({ assetId, ref, by, tool, toolCallId, messageId, previous }: AssetCreated): void {
    const id = `asset:${assetId}`
    if (!this.#nodes.has(id)) this.#nodes.set(id, { id, type: 'asset', ref, name: tool ?? by })
    if (previous !== undefined) this.#link(this.#assetNode(previous), id, previous)
    if (toolCallId !== undefined) this.#link(`call:${callIdOf(toolCallId)}`, id)
    if (messageId !== undefined) this.#link(this.#messageNode(messageId), id)
  }

  /** Returns the id of the node of a version that was edited. It may have been made elsewhere. */
  #assetNode(ref: string): string {
    const id = `asset:${parseAssetRef(ref)?.id}`
    if (!this.#nodes.has(id)) this.#nodes.set(id, { id, type: 'asset', ref })
    return id
  }

  #addCall({ toolCallId, parentMessageId, call }: EventOf<'TOOL_CALL_END'>): void {
    const id = `call:${toolCallId}`
    this.#nodes.set(id, { id, type: 'call', name: call.name })
    this.#link(this.#messageNode(parentMessageId), id)
    const args = isPlainObject(call.arguments) ? call.arguments : {}
    this.#calls.set(toolCallId, { id: toolCallId, args, begun: false })
  }

  /** Links a call to what its arguments name, as it is when the call begins. */
  #beginCall(toolCallId: string): void {
    const call = this.#calls.get(toolCallId)
    if (!call || call.begun) return
    call.begun = true
    const { _instance, _outputPath, _outputMethod, ...args } = call.args
    const instance = ownInstance(call.args)
    for (const { text, variables, assets } of referencesIn(args)) {
      const from = variables.flatMap((one) => this.#writersOf(one, instance))
      for (const node of [...from, ...assets.map(({ id }) => `asset:${id}`)])
        this.#link(node, `call:${call.id}`, text)
    }
  }

  #addWrite(message: Message): void {
    const block = message.content as DataBlock | null
    if (!isPlainObject(block)) return
    const variable = { kind: kindOf(block), instance: block._instance }
    const ref = formatVariable(variable, block._path ?? [])
    const id = `data:${message.id}`
    this.#nodes.set(id, { id, type: 'data', ref, name: message.sender?.participant_role })
    if (typeof block._call === 'string') this.#link(`call:${block._call}`, id)
    const writes = this.#writes.get(identityOf(block)) ?? []
    writes.push({ node: id, block })
    this.#writes.set(identityOf(block), writes)
  }

  /** Returns the id of a message's node, which is created if it is missing. */
  #messageNode(messageId: string, name?: string): string {
    const id = `message:${messageId}`
    const node = this.#nodes.get(id)
    if (!node?.name) this.#nodes.set(id, { id, type: 'message', ...(name ? { name } : {}) })
    return id
  }

  #link(from: string, to: string, ref?: string): void {
    if (!this.#nodes.has(from) || from === to) return
    const key = JSON.stringify([from, to, ref])
    if (this.#linked.has(key)) return
    this.#linked.add(key)
    this.#edges.push({ from, to, ...(ref === undefined ? {} : { ref }) })
  }

  /** Returns the writes that made the current value of a variable. */
  #writersOf({ kind, path, ...ref }: VariableRef, instance?: string): string[] {
    if (kind === RESULT) {
      const call = this.#results[resultNumber(ref) - 1]
      return call ? [`call:${call}`] : []
    }
    const writers = this.#writersAt(formatIdentity(kind, ref.instance ?? instance), path)
    return writers.length > 0 || ref.instance !== undefined
      ? writers
      : this.#writersAt(formatIdentity(kind, undefined), path)
  }

  #writersAt(identity: string, path: readonly FieldKey[]): string[] {
    const found: string[] = []
    for (const { node, block } of (this.#writes.get(identity) ?? []).toReversed()) {
      const at = block._path ?? []
      const shared = Math.min(at.length, path.length)
      if (!at.slice(0, shared).every((key, i) => String(key) === String(path[i]))) continue
      found.push(node)
      // It replaced the whole value.
      if (methodOf(block) === 'set' && at.length <= path.length) break
    }
    return found
  }

  #startOf(ref: string): string[] {
    if (this.#nodes.has(ref)) return [ref]
    const expression = parseVariableRef(ref)
    if (expression) return variablesIn(expression).flatMap((one) => this.#writersOf(one))
    if (!isAssetRef(ref)) return []
    const { id } = parseAssetRef(ref) as AssetRefParts
    return this.#nodes.has(`asset:${id}`) ? [`asset:${id}`] : []
  }
}

/** Follows the edges from these nodes, backwards (`from`) or forwards (`to`). */
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
