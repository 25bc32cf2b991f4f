import type { CallPlan, DataPlace } from '../../boundary/call-plan.ts'
import { editedAsset, withEditedRef } from '../../boundary/edit-plan.ts'
import type { Board } from '../../core/board/board.ts'
import { offloadedAbove } from '../../core/board/offloaded-above.ts'
import { ByrefError } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { isOffloaded, offloadedField } from '../../core/messages/offloaded.ts'
import {
  type AssetRefParts,
  formatAssetRef,
  isAssetRef,
  parseAssetRef,
} from '../../core/refs/asset-ref.ts'
import { formatVariable } from '../../core/refs/variable-ref.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { Session } from '../session.ts'

const { isDeepStrictEqual } = nodeBuiltin('node:util')

/** A value on the board that `edit_asset` edits. */
interface EditedPlace {
  /** Where a new version is written: the place, or the value above it that is stored as an asset. */
  place: DataPlace
  /** The value at `place`. */
  holder: unknown
  /** What the tool receives: the value, or its reference if it is stored as an asset. */
  received: unknown
}

/** Returns what an edit writes to the board. `edited` is what `edit_asset` received, and `value` its result. */
export function writeOfEdit(
  board: Board,
  place: DataPlace,
  { edited, value }: { edited: unknown; value: unknown },
): { place: DataPlace; data: unknown } {
  const found = placeOf(board, place)
  if (!found || !isDeepStrictEqual(found.received, edited)) {
    const name = formatVariable(place, place.path)
    throw new ByrefError(
      'edit_rejected',
      `${name} has changed since the edit was made. Nothing was written: read it, and send the edit again`,
    )
  }
  const version = value as Record<string, unknown>
  if (typeof version.assetRef !== 'string') return { place, data: version.value }
  return { place: found.place, data: withVersion(found.holder, version, version.assetRef) }
}

/** Returns the value at a place. An instance reads the global value until it has a value of its own. */
function placeOf(board: Board, { instance, ...global }: DataPlace): EditedPlace | null {
  const ofInstance = instance === undefined ? null : placeIn(board, { instance, ...global })
  const found = ofInstance ?? placeIn(board, global)
  return found && instance !== undefined ? { ...found, place: { instance, ...found.place } } : found
}

function placeIn(board: Board, place: DataPlace): EditedPlace | null {
  const above = offloadedAbove(board, place)
  if (above) {
    const received = offloadedField(above.value, place.path.slice(above.path.length))
    return { place: { ...place, path: above.path }, holder: above.value, received }
  }
  const name = formatVariable(place, place.path)
  if (!board.has(name)) return null
  const holder = board.read(name)
  return { place, holder, received: isOffloaded(holder) ? offloadedField(holder, []) : holder }
}

/** Returns a value that refers to an asset, changed to refer to another version of the asset. */
function withVersion(
  holder: unknown,
  { size, changes }: Record<string, unknown>,
  assetRef: string,
): unknown {
  const { id, namespace } = parseAssetRef(assetRef) as AssetRefParts
  const refLike = (old: string): string => {
    const fieldPath = parseAssetRef(old)?.fieldPath
    return formatAssetRef({ id, namespace, fieldPath })
  }
  if (typeof holder === 'string') return refLike(holder)
  if (!isPlainObject(holder)) return holder
  if (typeof holder.assetRef === 'string') {
    const version = { ...holder, assetRef: refLike(holder.assetRef) }
    if (typeof holder.rowCount !== 'number')
      return 'size' in holder ? { ...version, size } : version
    // Drop the preview rows of a query_tables result, because they belong to the old version.
    const { columns: _, rows: __, more: ___, ...table } = version as Record<string, unknown>
    return { ...table, rowCount: changes }
  }
  // The object form of a reference: { asset_id, field_path }.
  return { ...holder, asset_id: id }
}

/**
 * Returns the arguments of an edit. If earlier calls of the same answer edited the asset, `ref` names its newest
 * version.
 */
export function onNewestVersion(
  { state }: Pick<Session, 'state'>,
  plan: CallPlan,
  written: Record<string, unknown>,
): Record<string, unknown> {
  const { ref } = written
  if (plan.edit?.assetId === undefined || typeof ref !== 'string') return written
  const answer = state.calls[plan.id]?.parentMessageId
  const versions = state.assets.filter(({ previous, toolCallId = '' }) => {
    const { call, parentMessageId } = state.calls[toolCallId] ?? {}
    const isEdit = previous !== undefined && parentMessageId === answer
    return isEdit && editedAsset(withEditedRef(call?.arguments ?? {}).ref) !== null
  })
  let { id, namespace, fieldPath } = parseAssetRef(ref) as AssetRefParts
  for (const { ref: version, previous = '' } of versions) {
    if (parseAssetRef(previous)?.id === id) id = (parseAssetRef(version) as AssetRefParts).id
  }
  return { ...written, ref: formatAssetRef({ id, namespace, fieldPath } as AssetRefParts) }
}

/** Adds a note to the result of an edit if another version was made from the same one. */
export function withBranchNote(
  { state }: Pick<Session, 'state'>,
  edited: unknown,
  result: unknown,
): unknown {
  if (!isPlainObject(result) || typeof result.assetRef !== 'string') return result
  const from = idOf(edited)
  const others = state.assets.filter(({ ref, previous }) => {
    return previous !== undefined && idOf(previous) === from && idOf(ref) !== idOf(result.assetRef)
  })
  const other = others.at(-1)?.ref
  if (from === null || other === undefined) return result
  return {
    ...result,
    note: `This version does not have the changes of ${other}, which was made from the same version`,
  }
}

function idOf(ref: unknown): string | null {
  const named = isPlainObject(ref) ? (ref.assetRef ?? ref) : ref
  return isAssetRef(named) ? (parseAssetRef(named as string)?.id ?? null) : null
}
