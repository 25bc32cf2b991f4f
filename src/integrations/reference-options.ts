import { type AgentAssetsOptions, ASSETS, openAssets } from '../agent/agent-assets.ts'
import type { AssetTool } from '../assets/asset-tools.ts'
import type { Assets } from '../assets/assets-contract.ts'
import { checkOptions, is, type OptionTable } from '../core/check-options.ts'
import { assertAssetId } from '../core/refs/asset-ref.ts'
import { assetTools } from './plain-tools.ts'

/** Options of `byReference` in each integration. */
export interface ReferenceOptions extends AgentAssetsOptions {
  /** The namespace of all assets. Default: none. */
  namespace?: string | null
  /**
   * Maximum length of a result, in characters of JSON. A longer result becomes an asset, and the model gets its
   * reference and a preview. Default: 32,768. In LangChain, where checkpoints repeat the state: 8,192.
   */
  maxResultChars?: number
  /** Whether agents get `edit_asset`, which makes new versions of assets. Default false. */
  editing?: boolean
}

/** The part that all `byReference` functions return. */
export interface References<Self> {
  /**
   * Returns the same object for another namespace, which has separate assets. Use one namespace for each user.
   *
   * @throws ByrefError `invalid_reference` for a namespace that is not a valid name, such as undefined
   */
  scoped(namespace: string | null): Self
  /** The assets in which files and long results are stored. You can also save and read your own assets here. */
  readonly assets: Assets
}

/** What tools are wrapped with, in one namespace. */
export interface Wrapping {
  namespace: string | null
  assets: Assets
  maxResultChars?: number
  /** The tools that read assets. */
  reading: readonly AssetTool[]
}

export const REFERENCE_OPTIONS: OptionTable<ReferenceOptions> = {
  assets: ASSETS,
  namespace: is.nullable(is.string),
  maxResultChars: is.positive,
  editing: is.boolean,
}

/**
 * Calls `make` for the namespace of the options, and again for each that `scoped` is called with.
 *
 * @throws ByrefError `config_invalid` for unknown options, `invalid_reference` for an invalid namespace
 */
export function inNamespaces<Made, Options extends ReferenceOptions = ReferenceOptions>(
  options: Options,
  table: OptionTable<Options>,
  make: (wrapping: Wrapping, scoped: (namespace: string | null) => Made) => Made,
): Made {
  checkOptions('byReference', options, table)
  const { namespace = null, maxResultChars, editing = false } = options
  const opened = openAssets(options, namespace, () => {})
  const reading = assetTools(editing)
  const within = (namespace: string | null): Made => {
    if (namespace !== null) assertAssetId(namespace, 'namespace')
    return make({ namespace, assets: opened.in(namespace), maxResultChars, reading }, within)
  }
  return within(namespace)
}
