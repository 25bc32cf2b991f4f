import type { Agent } from '../../../agent/agent-contract.ts'
import { findAsset } from '../../../assets/asset-facade.ts'
import { editAssetTool } from '../../../assets/edit/edit-asset-tool.ts'
import { namedAssets } from '../../../assets/named-assets.ts'
import { queryTablesTool } from '../../../assets/tables/query-tables-tool.ts'
import { ByrefError } from '../../../core/errors.ts'
import {
  isPlain,
  join,
  joinAll,
  type Label,
  mayRead,
  readLabel,
  TRUSTED,
} from '../../../core/labels/label.ts'
import { createLabels } from '../../../core/labels/labels.ts'
import { formatAssetRef, isAssetId, isAssetRef } from '../../../core/refs/asset-ref.ts'
import { listAll, readAll } from '../../../log/conversation-log.ts'
import { metaOf } from '../mcp-labels.ts'

/** The labels of a conversation that had trust on. */
export interface ConversationLabels {
  /** The label of its model's last answer. */
  answer: Label
  /** The labels of all assets that the conversation made. */
  assets: ReadonlyMap<string, Label>
}

/** Reads the labels of a conversation. Returns null if it never had trust on. */
export async function conversationLabels(
  agent: Pick<Agent, 'log' | 'trust'>,
  conversation: string,
): Promise<ConversationLabels | null> {
  if (agent.trust === 'off') return null
  const labels = createLabels()
  const made = new Set<string>()
  let isOn = false
  let last = ''
  for await (const record of readAll(agent.log, conversation)) {
    const { event } = record
    labels.apply(record)
    if (event.type === 'RUN_STARTED' && (event.trust ?? 'off') !== 'off') isOn = true
    if (event.type === 'ASSET_CREATED') made.add(event.payload.assetId)
    const isSaid =
      event.type === 'NEW_MESSAGE' && event.payload.sender.participant_role === 'assistant'
    if (isSaid) last = event.payload.id
  }
  if (!isOn) return null
  const assets = new Map([...made].map((id) => [id, labels.asset({ id, fieldPath: [] })]))
  return { answer: labels.message(last).label, assets }
}

/**
 * Returns whether a reader may read a value with a label. A reader of null may read only values whose label names no
 * readers.
 */
export function isReadableBy(reader: string | null, label: Label): boolean {
  if (label.confidentiality === 'public' || label.readers === null) return true
  return reader !== null && mayRead(reader, label)
}

/** The assets that a reader may read, of agents in one namespace. Nothing is known of those of agents without trust. */
export function readableAssets(agents: readonly Agent[], reader: string | null) {
  const trusting = agents.filter(({ trust }) => trust !== 'off')

  /** Returns the label of the assets in a value: by the conversations that made them, or else by their records. */
  async function labelOf(known: ReadonlyMap<string, Label>, value: unknown): Promise<Label | null> {
    const [agent] = trusting
    if (!agent) return null
    const labels = idsIn(value).map(async (id) => {
      const made = known.get(id)
      if (made) return made
      const info = await findAsset(formatAssetRef({ id }), agent.assets)
      return info?.label ? readLabel(info.label) : []
    })
    const found = (await Promise.all(labels)).flat()
    return found.length === 0 ? null : joinAll(found)
  }

  return {
    /**
     * Returns the label of the assets that an input names. Null if nothing is known of them; an error if only others
     * may read them.
     */
    async given(tool: string, input: unknown): Promise<Label | ByrefError | null> {
      const label = await labelOf(await labelsOfAssets(trusting), input)
      if (!label) return null
      const isNamed = label.confidentiality === 'private' && label.readers !== null
      // Everybody could read a new table or version.
      const isMaking = tool === queryTablesTool.id || tool === editAssetTool.id
      if (isReadableBy(reader, label) && !(isMaking && isNamed)) return label
      return new ByrefError('forbidden', 'Only others may read this value')
    },
    /** Returns the items that may be read, with their labels. */
    async list<T extends { uri: string }>(resources: readonly T[]) {
      const known = await labelsOfAssets(trusting)
      const shown = resources.map(async (one) => {
        const label = await labelOf(known, one.uri)
        if (!label || isPlain(label)) return one
        return isReadableBy(reader, label) ? { ...one, _meta: metaOf(label) } : []
      })
      return (await Promise.all(shown)).flat()
    },
  }
}

/** Returns the ids that a value names. Tools take an id alone, too, so each text may be one. */
function idsIn(value: unknown): string[] {
  const texts = textsIn(value).filter((text) => isAssetId(text) && !isAssetRef(text))
  return [...new Set([...namedAssets(value), ...texts])]
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return Object.values(Object(value)).flatMap(textsIn)
}

interface Read {
  updatedAt: string
  assets: ReadonlyMap<string, Label>
}

/** What was read of each namespace of an agent. The same agent in all namespaces has one list of tools. */
const read = new WeakMap<Agent['tools'], Map<string | null, ReadonlyMap<string, Read>>>()

/** Changes within this time may have equal timestamps. */
const CLOCK_MS = 1_000

/**
 * Returns the labels of all assets that the agents' conversations made. A conversation without changes is not read
 * again.
 */
async function labelsOfAssets(agents: readonly Agent[]): Promise<ReadonlyMap<string, Label>> {
  const all = new Map<string, Label>()
  for (const agent of agents) {
    const known = read.get(agent.tools) ?? new Map<string | null, ReadonlyMap<string, Read>>()
    read.set(agent.tools, known)
    const { namespace } = agent.log
    const before = known.get(namespace)
    const now = new Map<string, Read>()
    for await (const { id, updatedAt } of listAll(agent.log)) {
      const seen = before?.get(id)
      const isOld = Date.now() - Date.parse(updatedAt) > CLOCK_MS
      const isSame = seen?.updatedAt === updatedAt && isOld
      const assets = isSame
        ? seen.assets
        : ((await conversationLabels(agent, id))?.assets ?? new Map())
      now.set(id, { updatedAt, assets })
      for (const [asset, label] of assets) all.set(asset, join(all.get(asset) ?? TRUSTED, label))
    }
    known.set(namespace, now)
  }
  return all
}
