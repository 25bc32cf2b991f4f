import type { Agent } from '../../../agent/agent-contract.ts'
import { findAsset } from '../../../assets/asset-facade.ts'
import { editAssetTool } from '../../../assets/edit/edit-asset-tool.ts'
import { namedAssets } from '../../../assets/named-assets.ts'
import { queryTablesTool } from '../../../assets/tables/query-tables-tool.ts'
import { ByrefError } from '../../../core/errors.ts'
import { isPlain, joinAll, type Label, mayRead, readLabel } from '../../../core/labels/label.ts'
import { formatAssetRef, isAssetId, isAssetRef } from '../../../core/refs/asset-ref.ts'
import type { ConversationLabels } from '../../../log/conversation-labels.ts'
import type { ConversationLog } from '../../../log/conversation-log.ts'
import { LabelIndex } from '../../../log/label-index.ts'
import { labelMeta } from '../mcp-labels.ts'

/**
 * The labels of values in the agents' conversations, in all namespaces. There are none for agents without trust, and
 * for conversations that never had it.
 */
export class ServedLabels {
  /** By tools: the same agent in all namespaces has one list of tools. */
  readonly #indexes = new Map<Agent['tools'], LabelIndex>()

  constructor(agents: readonly Agent[]) {
    const ofLogs = new Map<ConversationLog, LabelIndex>()
    for (const { trust, log, tools } of agents) {
      if (trust === 'off') continue
      const index = ofLogs.get(log) ?? new LabelIndex(log)
      ofLogs.set(log, index)
      this.#indexes.set(tools, index)
    }
  }

  /** Returns the labels of a conversation. Null if it has none. */
  async conversation(agent: Agent, id: string): Promise<ConversationLabels | null> {
    const labels = await this.#indexes.get(agent.tools)?.of(agent.log, id)
    return labels?.hasTrust ? labels : null
  }

  /** Returns the label of an asset, joined over the conversations that made it, or else of its record. */
  async asset(agents: readonly Agent[], id: string): Promise<Label | null> {
    const found: Label[] = []
    for (const agent of agents) {
      const homes = (await this.#indexes.get(agent.tools)?.homes(agent.log, id)) ?? []
      for (const home of homes) {
        const labels = await this.conversation(agent, home)
        if (labels) found.push(labels.values.asset({ id, fieldPath: [] }))
      }
    }
    if (found.length > 0) return joinAll(found)
    const agent = agents.find(({ tools }) => this.#indexes.has(tools))
    const info = agent && (await findAsset(formatAssetRef({ id }), agent.assets))
    return info?.label ? readLabel(info.label) : null
  }

  close(): void {
    for (const index of this.#indexes.values()) index.close()
  }
}

/** The assets that a reader may read, of agents in one namespace. */
export function readableAssets(
  labels: ServedLabels,
  { agents, reader }: { agents: readonly Agent[]; reader: string | null },
) {
  /** Returns the label of the assets that a value names. Null if they have none. */
  async function labelOf(value: unknown): Promise<Label | null> {
    const found = await Promise.all(idsIn(value).map((id) => labels.asset(agents, id)))
    const known = found.filter((label) => label !== null)
    return known.length === 0 ? null : joinAll(known)
  }

  return {
    /**
     * Returns the label of the assets that an input names. Null if they have none. Returns an error if only others may
     * read them.
     */
    async given(tool: string, input: unknown): Promise<Label | ByrefError | null> {
      const label = await labelOf(input)
      if (!label) return null
      const isNamed = label.confidentiality === 'private' && label.readers !== null
      // Everybody could read a new table or version.
      const isMaking = tool === queryTablesTool.id || tool === editAssetTool.id
      if (mayRead(reader, label) && !(isMaking && isNamed)) return label
      return new ByrefError('forbidden', 'You may not read this value')
    },
    /** Returns the items that may be read, with their labels. */
    async list<T extends { uri: string }>(resources: readonly T[]) {
      const shown = resources.map(async (one) => {
        const label = await labelOf(one.uri)
        if (!label || isPlain(label)) return one
        return mayRead(reader, label) ? { ...one, _meta: labelMeta(label) } : []
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
