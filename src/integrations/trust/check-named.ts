import { editAssetTool } from '../../assets/edit/edit-asset-tool.ts'
import { ByrefError } from '../../core/errors.ts'
import { isAssetRef } from '../../core/refs/asset-ref.ts'

/**
 * Checks that a call of a tool that reads assets names its asset by a reference. Such tools take the id alone, too, but labels
 * follow references only. `edit_asset` takes any other text in `ref` as a value.
 *
 * @throws ByrefError `invalid_reference`
 */
export function checkNamed(tool: string, { ref, id }: Record<string, unknown>): void {
  const named = tool === editAssetTool.id ? ref === undefined && id : (ref ?? id)
  if (typeof named !== 'string' || isAssetRef(named)) return
  throw new ByrefError(
    'invalid_reference',
    'ref is a reference, such as asset://id, and not the id alone',
  )
}
