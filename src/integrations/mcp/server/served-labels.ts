import type { Agent } from '../../../agent/agent-contract.ts'
import { queryTablesTool } from '../../../assets/tables/query-tables-tool.ts'
import { ByrefError } from '../../../core/errors.ts'
import { isPlain, join, joinAll, type Label, mayRead, TRUSTED } from '../../../core/labels/label.ts'
import { createLabels } from '../../../core/labels/labels.ts'
import { referencesIn } from '../../../core/refs/references-in.ts'
import { listAll, readAll } from '../../../log/conversation-log.ts'
import { metaOf } from '../label-meta.ts'

/** The labels of one conversation that had trust on. */
export interface ConversationLabels {
  /** Of what its model said last. */
  answer(): Label
  /** Of an asset that was made there; null for any other. */
  asset(id: string): Label | null
  /** Of all that were made there. */
  assets: ReadonlyMap<string, Label>
}

/** Reads the labels of a conversation; null where it never had trust on. */
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
  const of = (id: string): Label => labels.asset({ id, fieldPath: [] })
  const assets = new Map([...made].map((id) => [id, of(id)]))
  return {
    answer: () => labels.message(last).label,
    asset: (id) => assets.get(id) ?? null,
    assets,
  }
}

/** Whether somebody may read what has a label; nobody that readers name reads what names none. */
export function isReadableBy(reader: string | null, label: Label): boolean {
  if (label.confidentiality === 'public' || label.readers === null) return true
  return reader !== null && mayRead(reader, label)
}

/** Assets as far as a reader may read them. */
export interface ReadableAssets {
  /** The label of what an input names, null where nothing is known of it; an error for what is for others to read. */
  given(tool: string, input: unknown): Promise<Label | ByrefError | null>
  /** Of a list those that may be read, with their labels. */
  list<T extends { uri: string }>(
    resources: readonly T[],
  ): Promise<(T & { _meta?: ReturnType<typeof metaOf> })[]>
}

/** The assets of agents of one namespace; of those without trust nothing is known. */
export function readableAssets(agents: readonly Agent[], reader: string | null): ReadableAssets {
  const trusting = agents.filter(({ trust }) => trust !== 'off')

  function labelOf(known: ReadonlyMap<string, Label>, value: unknown): Label | null {
    const ids = referencesIn(value).flatMap(({ assets }) => assets.map(({ id }) => id))
    const found = ids.flatMap((id) => known.get(id) ?? [])
    return found.length === 0 ? null : joinAll(found)
  }

  return {
    async given(tool, input) {
      const label = labelOf(await labelsOfAssets(trusting), input)
      if (!label) return null
      const isNamed = label.confidentiality === 'private' && label.readers !== null
      // A new table would be for everybody.
      const isAnswer = tool === queryTablesTool.id && isNamed
      if (isReadableBy(reader, label) && !isAnswer) return label
      return new ByrefError('forbidden', 'This is for others to read')
    },
    async list(resources) {
      const known = await labelsOfAssets(trusting)
      return resources.flatMap((one) => {
        const label = labelOf(known, one.uri)
        if (!label || isPlain(label)) return one
        return isReadableBy(reader, label) ? { ...one, _meta: metaOf(label) } : []
      })
    },
  }
}

interface Read {
  updatedAt: string
  assets: ReadonlyMap<string, Label>
}

const read = new WeakMap<object, Map<string, Read>>()

/** Clocks tick at least so often. */
const CLOCK_MS = 1_000

/** Of all that the conversations of agents have made; one that has not changed is not read again. */
async function labelsOfAssets(agents: readonly Agent[]): Promise<ReadonlyMap<string, Label>> {
  const all = new Map<string, Label>()
  for (const agent of agents) {
    const before = read.get(agent.log) ?? new Map<string, Read>()
    read.set(agent.log, before)
    for await (const { id, updatedAt } of listAll(agent.log)) {
      const seen = before.get(id)
      const isOld = Date.now() - Date.parse(updatedAt) > CLOCK_MS
      const isSame = seen?.updatedAt === updatedAt && isOld
      const assets = isSame
        ? seen.assets
        : ((await conversationLabels(agent, id))?.assets ?? new Map())
      if (!isSame) before.set(id, { updatedAt, assets })
      for (const [asset, label] of assets) all.set(asset, join(all.get(asset) ?? TRUSTED, label))
    }
  }
  return all
}
