import { ByrefError } from '../core/errors.ts'
import { type AssetRef, assertAssetId, formatAssetRef, refParts } from '../core/refs/asset-ref.ts'
import { assetNotFound } from './asset-record.ts'

/** A bare id, an asset URL or a reference object. */
export type AssetRefInput = string | AssetRef

/** The namespace of a call. Default: that of the scope. */
export interface NamespaceOption {
  namespace?: string | null
}

/** `none`: there are no namespaces. `context`: every call needs one. `optional`: a call may have one. */
export type NamespaceMode = 'none' | 'context' | 'optional'

/** The place that a reference names. */
export interface AssetPlace {
  assetId: string
  namespace: string | null
  /** Absent if the reference names the asset itself. */
  fieldPath?: (string | number)[]
}

/** Turns references into places and back, by the rules of namespaces. */
export class AssetLocator {
  readonly #rules: { mode: NamespaceMode; includeInRef: boolean }

  constructor(rules: { mode: NamespaceMode; includeInRef: boolean }) {
    this.#rules = rules
  }

  /**
   * Rejects a namespace if there are none.
   *
   * @throws ByrefError `config_invalid`
   */
  checkScope(namespace: string | null | undefined): void {
    if (this.#rules.mode !== 'none' || namespace == null) return
    throw new ByrefError(
      'config_invalid',
      'These assets have no namespaces: create them with createAssets({ config: { namespacing: { mode: "optional" } } }).',
    )
  }

  /**
   * Returns the namespace that a call works in.
   *
   * @throws ByrefError `namespace_required` if there is none in mode `context`; `config_invalid` for one in mode `none`
   */
  namespaceFor(options?: NamespaceOption, scope?: string | null): string | null {
    if (this.#rules.mode === 'none') {
      this.checkScope(options?.namespace)
      return null
    }
    const namespace = options?.namespace ?? scope ?? null
    if (namespace !== null) assertAssetId(namespace, 'namespace')
    else if (this.#rules.mode === 'context') {
      throw new ByrefError(
        'namespace_required',
        'These assets are in namespaces: pass a namespace with the call, the run or the agent.',
      )
    }
    return namespace
  }

  /**
   * Returns the place that a reference names. A reference to another namespace is not found.
   *
   * @throws ByrefError `asset_not_found`; `invalid_reference` for malformed references
   */
  locate(ref: AssetRefInput, options?: NamespaceOption, scope?: string | null): AssetPlace {
    const { id, namespace: named, fieldPath } = refParts(ref)
    const isForeign = this.#rules.mode === 'none' && options?.namespace != null
    if (isForeign) throw assetNotFound(id)
    const namespace = this.namespaceFor(options, scope)
    if (named !== undefined && named !== namespace) throw assetNotFound(id, named)
    return { assetId: id, namespace, ...(fieldPath && { fieldPath }) }
  }

  /** Returns the reference of an asset, or of a field in it, for callers. */
  refOf(assetId: string, namespace: string | null, fieldPath?: (string | number)[]): string {
    const shown = this.#rules.includeInRef && namespace !== null ? { namespace } : {}
    return formatAssetRef({ id: assetId, ...shown, fieldPath })
  }
}

/**
 * Checks an id that a caller chose.
 *
 * @throws ByrefError `invalid_reference`
 */
export function checkAssetId(assetId: string): void {
  assertAssetId(assetId)
  if (!assetId.includes('://')) return
  throw new ByrefError(
    'invalid_reference',
    `${JSON.stringify(assetId.slice(0, 60))} cannot be an asset id: it looks like a URL.`,
  )
}
