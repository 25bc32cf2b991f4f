import { type AssetStore, STORE } from '../assets/asset-store.ts'
import {
  ASSETS_CONFIG,
  type AssetsConfig,
  type ResolvedAssetsConfig,
} from '../assets/assets-config.ts'
import type { Assets } from '../assets/assets-contract.ts'
import { createAssets } from '../assets/create-assets.ts'
import { type Check, is } from '../core/check-options.ts'
import type { AssetEvent } from '../core/events/events.ts'
import { getRecent } from '../core/recent.ts'

/** Maximum number of namespaces whose views are kept. */
export const MAX_NAMESPACES = 256

/** The assets of an agent, by namespace. */
export interface AgentAssets {
  /** The assets of a namespace, for runs. The run itself logs an event for each saved asset. */
  in(namespace: string | null): Assets
  /** The assets of a namespace, for all other callers. Each saved asset is reported to `onEvent` at once. */
  toldIn(namespace: string | null): Assets
  readonly config: ResolvedAssetsConfig
}

/** Options of {@link openAssets}. */
export interface AgentAssetsOptions {
  assets?: Assets | { config?: AssetsConfig; store?: AssetStore }
}

export const ASSETS: Check<NonNullable<AgentAssetsOptions['assets']>> = is.either(
  is.having<Assets>('assets, made by createAssets', 'resolve', 'scoped'),
  is.group<{ config?: AssetsConfig; store?: AssetStore }>({
    config: is.group(ASSETS_CONFIG),
    store: STORE,
  }),
)

/** Opens the assets of an agent. Default: in memory, with any namespace. */
export function openAssets(
  { assets }: AgentAssetsOptions,
  namespace: string | null,
  onEvent: (event: AssetEvent) => unknown,
): AgentAssets {
  const views = new Map<string | null, Assets>()
  const base = assetsOf(assets)
  const make = (of: string | null) => (of === null ? base : base.scoped({ namespace: of }))
  const inNamespace = (of: string | null) => getRecent(views, of, () => make(of), MAX_NAMESPACES)
  return {
    in: inNamespace,
    toldIn: (of) => inNamespace(of).scoped({ onEvent }),
    config: inNamespace(namespace).config,
  }
}

/**
 * Returns the assets without a namespace. If they are made here, the default namespacing mode is `optional`, so that each
 * conversation's assets are in its own namespace.
 */
function assetsOf(assets: AgentAssetsOptions['assets'] = {}): Assets {
  if ('resolve' in assets) return assets
  const { config = {}, store } = assets
  const namespacing = { ...config.namespacing, mode: config.namespacing?.mode ?? 'optional' }
  return createAssets({ config: { ...config, namespacing }, store })
}
