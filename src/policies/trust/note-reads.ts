import type { AssetRefInput } from '../../assets/asset-locator.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import type { ToolContext } from '../../boundary/tool.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import {
  join,
  type Label,
  type LabelInput,
  readLabel,
  TRUSTED,
  UNKNOWN,
} from '../../core/labels/label.ts'
import type { Labels } from '../../core/labels/labels.ts'
import { isAssetRef, parseAssetRef } from '../../core/refs/asset-ref.ts'
import { referencesIn } from '../../core/refs/references-in.ts'

/** What an execution reads by itself, beside what its call was given. */
export interface NotedReads {
  /** Of everything that was read so far, and of what the tool says of its result. */
  label(): Label
  /** Of what its call was given. */
  readonly given: Label
  mark(label: LabelInput): void
  assets(assets: Assets): Assets
  /** The same `read` as in a tool's context. */
  read(read: ToolContext['read']): ToolContext['read']
}

/**
 * Notes what an execution reads.
 *
 * @param made The events of what it made itself.
 */
export function noteReads(
  labels: Labels,
  made: readonly ConversationEvent[],
  { instance, given }: { instance: string | undefined; given: Label },
): NotedReads {
  let all = TRUSTED
  const note = (label: Label): void => {
    all = join(all, label)
  }
  const isOwn = (id: string): boolean =>
    made.some((event) => event.type === 'ASSET_CREATED' && event.payload.assetId === id)
  return {
    label: () => all,
    given,
    mark: (label) => note(readLabel(label)),
    assets: (assets) => notedAssets(assets, { labels, isOwn, note }),
    read: (read) => async (variable) => {
      const noteNow = (): void => {
        for (const found of referencesIn(variable)) note(labels.reference(found, { instance }))
      }
      noteNow()
      const value = await read(variable)
      noteNow()
      return value
    },
  }
}

/** The methods that read what a reference names. */
const READING: readonly (keyof Assets)[] = [
  ...([
    'get',
    'getBase64',
    'getDataUrl',
    'open',
    'info',
    'urlFor',
    'resolve',
    'text',
    'rows',
    'meta',
  ] as const),
]

/**
 * Assets that note the labels of what is read (spec Q7), but of what was saved by the same execution.
 *
 * @param isOwn Whether the execution made an asset.
 */
function notedAssets(
  assets: Assets,
  { labels, isOwn, note }: { labels: Labels; isOwn(id: string): boolean; note(label: Label): void },
): Assets {
  const noteRef = (ref: AssetRefInput): void => {
    const parts = typeof ref === 'string' && !isAssetRef(ref) ? { id: ref } : parseAssetRef(ref)
    if (parts && !isOwn(parts.id)) note(labels.asset(parts))
  }
  const reading = Object.fromEntries(
    READING.map((name) => {
      const method = assets[name as 'info'] as (ref: AssetRefInput, ...rest: unknown[]) => unknown
      return [
        name,
        (ref: AssetRefInput, ...rest: unknown[]) => {
          noteRef(ref)
          return method(ref, ...rest)
        },
      ]
    }),
  )
  return {
    ...assets,
    ...reading,
    config: assets.config,
    query(query, options) {
      for (const { assets: named } of referencesIn([query.sql, Object.values(query.tables ?? {})]))
        for (const { id, fieldPath } of named) if (!isOwn(id)) note(labels.asset({ id, fieldPath }))
      for (const ref of Object.values(query.tables ?? {})) noteRef(ref)
      return assets.query(query, options)
    },
    list(options) {
      note(UNKNOWN)
      return assets.list(options)
    },
    scoped: (scope) => notedAssets(assets.scoped(scope), { labels, isOwn, note }),
  }
}
