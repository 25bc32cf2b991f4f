import { ByrefError } from '../core/errors.ts'
import { RESULT } from '../core/messages/results.ts'
import { isAssetRef, parseAssetRef } from '../core/refs/asset-ref.ts'
import { formatVariable, parseVariableRef } from '../core/refs/variable-ref.ts'
import type { CallPlan, DataPlace } from './call-plan.ts'

/** What a call of `edit_asset` edits: the value at a place on the board, or an asset. */
export type PlannedEdit =
  | { place: DataPlace; assetId?: undefined }
  | { assetId: string; place?: undefined }

/**
 * Plans an edit. The new version of a value on the board is written to its place, unless the call has another output
 * path.
 *
 * @throws ByrefError `invalid_arguments` for text that is no reference
 */
export function planEdit(plan: CallPlan): void {
  const { ref } = plan.arguments
  if (typeof ref !== 'string') return
  const expression = parseVariableRef(ref)
  if (expression) {
    if (expression.type !== 'variable' || expression.kind === RESULT) return
    const { kind, path, instance = plan.instance } = expression
    const place = instance === undefined ? { kind, path } : { kind, instance, path }
    plan.outputs = plan.outputs.length > 0 ? plan.outputs : [[place]]
    plan.outputMethod = 'set'
    const [first = []] = plan.outputs
    if (first.some((target) => nameOf(target) === nameOf(place))) plan.edit = { place }
    return
  }
  const assetId = parseAssetRef(ref)?.id ?? (NEW_ID.test(ref) ? ref : null)
  if (assetId !== null) {
    plan.arguments = { ...plan.arguments, ref: isAssetRef(ref) ? ref : `asset://${ref}` }
    plan.edit = { assetId }
  } else if (!ref.includes('<|')) {
    throw new ByrefError(
      'invalid_arguments',
      `ref is an asset:// reference or a † path, not ${JSON.stringify(ref.slice(0, 100))}`,
    )
  }
}

/** An id that byref made, without `asset://`. */
const NEW_ID = /^[0-9a-hjkmnp-tv-z]{27}$/

function nameOf({ path, ...place }: DataPlace): string {
  return formatVariable(place, [...path])
}
