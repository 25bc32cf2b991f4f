import { ByrefError } from '../core/errors.ts'
import { RESULT } from '../core/messages/results.ts'
import { isNewId } from '../core/new-id.ts'
import { isAssetRef, parseAssetRef } from '../core/refs/asset-ref.ts'
import { formatVariable, type OutputTarget, parseVariableRef } from '../core/refs/variable-ref.ts'

/** What a call of `edit_asset` edits: the value at a place on the board, or an asset. */
export type PlannedEdit =
  | { place: OutputTarget; assetId?: undefined }
  | { assetId: string; place?: undefined }

/** The parts of a call's plan that an edit reads and changes. */
interface EditCall {
  arguments: Record<string, unknown>
  instance?: string
  outputs: readonly (readonly OutputTarget[])[]
}

/**
 * Returns the parts of a plan that differ for an edit. The new version of a value on the board is written to its place,
 * unless the call has another output path.
 *
 * @throws ByrefError `invalid_arguments` for text that is no reference, and for an expression without an output path
 */
export function planEdit({
  arguments: args,
  instance: own,
  outputs,
}: EditCall): Partial<EditCall & { edit: PlannedEdit; outputMethod: 'set' }> {
  const { ref } = args
  if (typeof ref !== 'string') return {}
  const expression = parseVariableRef(ref)
  if (expression) {
    if (expression.type !== 'variable') {
      if (outputs.length > 0) return {}
      throw new ByrefError(
        'invalid_arguments',
        `ref must be one † path, and ${ref.slice(0, 100)} has more than one. Name the path that changes, or set _outputPath to the place to write.`,
      )
    }
    if (expression.kind === RESULT) return {}
    const { kind, path, instance = own } = expression
    const place = instance === undefined ? { kind, path } : { kind, instance, path }
    const [first = [place]] = outputs
    if (first.length !== 1 || nameOf(first[0] as OutputTarget) !== nameOf(place)) return {}
    return {
      outputs: outputs.length > 0 ? outputs : [[place]],
      outputMethod: 'set',
      edit: { place },
    }
  }
  const assetId = editedAsset(ref)
  if (assetId !== null) {
    const whole = isAssetRef(ref) ? ref : `asset://${ref}`
    return { arguments: { ...args, ref: whole }, edit: { assetId } }
  }
  throw new ByrefError(
    'invalid_arguments',
    `ref must be an asset:// reference or a † path, not ${JSON.stringify(ref.slice(0, 100))}`,
  )
}

/** Returns the arguments of an edit with the reference as `ref`. A model may also write it as `asset`. */
export function withEditedRef({
  asset,
  ...args
}: Record<string, unknown>): Record<string, unknown> {
  return asset === undefined ? args : { ref: asset, ...args }
}

/** Returns the id of the asset that the `ref` of an edit names itself; null if it names a place on the board. */
export function editedAsset(ref: unknown): string | null {
  if (typeof ref !== 'string') return null
  return parseAssetRef(ref)?.id ?? (isNewId(ref) ? ref : null)
}

function nameOf({ path, ...place }: OutputTarget): string {
  return formatVariable(place, path)
}
