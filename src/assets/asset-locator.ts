import { ByrefError } from '../core/errors.ts'
import { assertAssetId } from '../core/refs/asset-id.ts'
import {
  type AssetRef,
  type AssetRefParts,
  extractAssetId,
  formatAssetRef,
  parseAssetRef,
} from '../core/refs/asset-ref.ts'
import { assetNotFound } from './asset-record.ts'

/** Any form that names an asset: a bare id, an asset URL, or a reference object. */
export type AssetRefInput = string | AssetRef

/** The namespace of a call; absent or null, that of the scope. */
export interface NamespaceOption {
  namespace?: string | null
}

/** `none`: there are no namespaces. `context`: every call needs one. `optional`: a call may have one. */
export type NamespaceMode = 'none' | 'context' | 'optional'

/** Where a reference leads. */
export interface AssetPlace {
  assetId: string
  namespace: string | null
  /** Absent where the reference names the asset itself. */
  fieldPath?: (string | number)[]
}

/** Turns references into places and back, by the rules of namespaces (spec A11). */
export interface AssetLocator {
  /**
   * Refuses the namespace of a scope where there are none.
   *
   * @throws ByrefError `config_invalid`
   */
  checkScope(namespace: string | null | undefined): void
  /**
   * The namespace that a call works in.
   *
   * @throws ByrefError `namespace_required` when there is none in mode `context`; `config_invalid` for one in mode `none`
   */
  namespaceFor(
    options: NamespaceOption | undefined,
    scope: string | null | undefined,
  ): string | null
  /**
   * Where the reference leads. One that names another namespace leads nowhere.
   *
   * @throws ByrefError `asset_not_found`; `invalid_reference` for malformed references
   */
  locate(
    ref: AssetRefInput,
    options: NamespaceOption | undefined,
    scope: string | null | undefined,
  ): AssetPlace
  /** The reference that is given out for an asset, or for a field in it. */
  refOf(assetId: string, namespace: string | null, fieldPath?: (string | number)[]): string
}

/** A locator for one configuration. */
export function createAssetLocator(config: {
  mode: NamespaceMode
  includeInRef: boolean
}): AssetLocator {
  const { mode, includeInRef } = config

  function checkScope(namespace: string | null | undefined): void {
    if (mode !== 'none' || namespace == null) return
    throw new ByrefError(
      'config_invalid',
      'Assets have no namespaces here: set namespacing.mode to "context".',
    )
  }

  function namespaceFor(
    options: NamespaceOption | undefined,
    scope: string | null | undefined,
  ): string | null {
    if (mode === 'none') {
      checkScope(options?.namespace)
      return null
    }
    const namespace = options?.namespace ?? scope ?? null
    if (namespace === null && mode === 'optional') return null
    if (namespace === null) {
      throw new ByrefError(
        'namespace_required',
        'Assets live in namespaces here: pass one with the call, the run or the agent.',
      )
    }
    assertAssetId(namespace, 'namespace')
    return namespace
  }

  return {
    checkScope,
    namespaceFor,

    locate(ref, options, scope) {
      const parsed = parse(ref)
      if (mode === 'none') {
        if (options?.namespace != null || parsed.namespace !== undefined) {
          throw assetNotFound(parsed.id)
        }
        return placeOf(parsed, null)
      }
      const namespace = namespaceFor(options, scope)
      if (parsed.namespace !== undefined && parsed.namespace !== namespace) {
        throw assetNotFound(parsed.id)
      }
      return placeOf(parsed, namespace)
    },

    refOf(assetId, namespace, fieldPath) {
      const shown = includeInRef && namespace !== null ? { namespace } : {}
      return formatAssetRef({ id: assetId, ...shown, fieldPath })
    },
  }
}

/**
 * An id that a caller chose, if it may be one.
 *
 * @throws ByrefError `invalid_reference`
 */
export function checkAssetId(assetId: string): string {
  assertAssetId(assetId)
  if (!assetId.includes('://')) return assetId
  throw new ByrefError(
    'invalid_reference',
    `${JSON.stringify(assetId.slice(0, 60))} cannot be an asset id: it looks like a URL.`,
  )
}

function parse(ref: AssetRefInput): AssetRefParts {
  const parsed = parseAssetRef(ref)
  return parsed ?? { id: extractAssetId(ref) }
}

function placeOf({ id, fieldPath }: AssetRefParts, namespace: string | null): AssetPlace {
  return { assetId: id, namespace, ...(fieldPath && { fieldPath }) }
}
