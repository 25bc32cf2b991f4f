import type { AssetRefInput } from '../../assets/asset-locator.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import type { Read } from '../../boundary/resolve.ts'
import type { ToolContext } from '../../boundary/tool.ts'
import { type Found, sourceLabels } from '../../boundary/value-source.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { join, joinAll, type Label, readLabel, TRUSTED, UNKNOWN } from '../../core/labels/label.ts'
import { wholeOf } from '../../core/labels/label-tree.ts'
import type { Labels } from '../../core/labels/labels.ts'
import { oncePer } from '../../core/once-resolved.ts'
import { type AssetRefParts, isAssetRef, parseAssetRef } from '../../core/refs/asset-ref.ts'
import { ownInstance } from '../../core/refs/own-instance.ts'
import { referencesIn } from '../../core/refs/references-in.ts'
import type { PolicyCall } from '../policy.ts'

/** Tracks what an execution reads in addition to its input. */
export interface NotedReads {
  /** `read` is the label of everything that was read so far, and of the tool's own marks. */
  trust: NonNullable<ToolContext['trust']>
  /** Returns assets that track the labels of everything read through them, except what the execution saved. */
  assets(assets: Assets, saved: readonly ConversationEvent[]): Assets
  read(found: Found): void
}

/** Starts to track what an execution reads. `reads` are the references in its arguments. */
export function noteReads(call: PolicyCall, labels: Labels, reads: readonly Read[]): NotedReads {
  let readSoFar = TRUSTED
  const note = (label: Label): void => {
    readSoFar = join(readSoFar, label)
  }
  return {
    trust: {
      input: inputLabel(call, labels, reads),
      get read() {
        return readSoFar
      },
      mark: (label) => note(readLabel(label)),
    },
    assets(assets, saved) {
      const isOwn = (id: string): boolean =>
        saved.some((event) => event.type === 'ASSET_CREATED' && event.payload.assetId === id)
      return notedAssets(assets, { labels, isOwn, note })
    },
    read: (found) => note(found.labels ? wholeOf(found.labels) : UNKNOWN),
  }
}

/** The methods of assets that read one asset. */
const READING = [
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
  'edit',
  'versions',
] as const

interface Noting {
  labels: Labels
  /** Whether the execution has saved an asset. */
  isOwn(id: string): boolean
  note(label: Label): void
}

function notedAssets(assets: Assets, noting: Noting): Assets {
  const { labels, isOwn, note } = noting
  const source = sourceLabels(labels, assets)
  const noteParts = async (parts: AssetRefParts | null): Promise<void> => {
    if (parts && !isOwn(parts.id)) note(wholeOf(await source.asset(parts)))
  }
  const noteRef = (ref: AssetRefInput): Promise<void> => {
    const isId = typeof ref === 'string' && !isAssetRef(ref)
    return noteParts(isId ? { id: ref, fieldPath: [] } : parseAssetRef(ref))
  }
  const reading = Object.fromEntries(
    READING.map((name) => {
      const method = assets[name as 'info'] as (ref: AssetRefInput, ...rest: unknown[]) => unknown
      return [
        name,
        async (ref: AssetRefInput, ...rest: unknown[]) => {
          await noteRef(ref)
          return method(ref, ...rest)
        },
      ]
    }),
  )
  return {
    ...assets,
    ...reading,
    config: assets.config,
    async query(query, options) {
      // Rows came with the arguments of the call, whose labels are known.
      const given = Object.values(query.tables ?? {})
      const tables = given.filter((table) => typeof table === 'string')
      const named = referencesIn([query.sql, tables]).flatMap((found) => found.assets)
      await Promise.all([...named.map(noteParts), ...tables.map(noteRef)])
      return assets.query(query, options)
    },
    list(options) {
      note(UNKNOWN)
      return assets.list(options)
    },
    scoped: (scope) => notedAssets(assets.scoped(scope), noting),
  }
}

/**
 * Returns the label of everything that a call receives: what the model had seen, and what the call reads.
 *
 * @param reads The reads of one execution. Default: those of all items of the call.
 */
export function inputLabel(call: PolicyCall, labels: Labels, reads?: readonly Read[]): Label {
  const { toolCallId, each, state } = call
  const read = reads ? labelOf(reads) : readByAll(call.items)
  const over = each ? [wholeOf(each)] : []
  // The values that a person approved. The same names may have other values by now.
  const approved = state.approval?.label ? [readLabel(state.approval.label)] : []
  return joinAll([labels.contextOf(toolCallId), ...over, read, ...approved, byName(call, labels)])
}

const labelOf = (reads: readonly Read[]): Label => joinAll(reads.map((one) => wholeOf(one.labels)))

/** Returns the label of everything that the items of a call read. Every failed item needs it. */
const readByAll = oncePer((items: PolicyCall['items']) =>
  labelOf(items.flatMap(({ reads }) => reads)),
)

/**
 * Returns the label of the references in a call, if the call has read nothing: it failed before, or a person approved
 * its values. Otherwise, `reads` has their labels.
 */
function byName({ written, items, state }: PolicyCall, labels: Labels): Label {
  if (items.length > 0 && !state.approval?.answer) return TRUSTED
  const instance = ownInstance(state.call?.arguments)
  return joinAll(referencesIn(written).map((found) => labels.reference(found, { instance })))
}
