import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import type { AssetCreated, AssetFailed, AssetOrigin } from '../../core/events/events.ts'
import type { Assets } from '../assets-contract.ts'
import { MAKER, NAMESPACE } from '../assets-options.ts'
import { findAssets, type Leaf } from './find-assets.ts'
import { saveFindings } from './save-findings.ts'
import { rebuild } from './value-tree.ts'

/** Options of {@link extractAssets}. */
export interface ExtractOptions {
  assets: Assets
  by?: AssetOrigin
  /** The tool's id and the call's, when a tool made the value. */
  tool?: string
  toolCallId?: string
  namespace?: string | null
  /** How many bodies are saved at once, as long as they are small; large ones take several places. Default: 256. */
  concurrency?: number
  signal?: AbortSignal
}

const OPTIONS: OptionTable<ExtractOptions> = {
  ...NAMESPACE,
  assets: is.required(is.having('assets, made by createAssets', 'save', 'saveAsset')),
  by: MAKER.by,
  ...is.all(is.string, 'tool', 'toolCallId'),
  concurrency: is.count,
  signal: is.signal,
}

/** What {@link extractAssets} gives back. */
export interface Extracted {
  /** The value with references in place of bodies; the same object if there were none. */
  value: unknown
  created: AssetCreated[]
  errors: AssetFailed[]
}

/**
 * Saves every body in a value and puts a reference in its place. The value itself is never changed; what
 * holds no body is shared. A body that has the shape and does not decode, or cannot be saved, becomes an `assetError`
 * in its place, and costs the others nothing; a stream that stands at several places is one asset. Typed arrays of
 * numbers become lists, longer ones structured content. Date, Map and Set stay what they are; instances of classes on the way to a body become plain
 * objects. Keys of objects and Maps are left alone.
 *
 * @throws ByrefError before anything is saved: `too_deep`, `too_many_assets`, `result_too_large`; the last one also when
 * streams turn out to be too long. What `onEvent` throws, and the signal's reason, as they are. Streams are ended then
 */
export async function extractAssets(value: unknown, options: ExtractOptions): Promise<Extracted> {
  checkOptions('extractAssets', options, OPTIONS)
  const { assets, by, tool, toolCallId, namespace, concurrency = 256, signal } = options
  const { nodes, findings } = findAssets(value, assets.config.limits)
  const scope = { by, tool, toolCallId, namespace }
  const saved = await saveFindings(findings, { assets, scope, concurrency, signal })
  const { results, created, errors } = saved
  const resultOf = (leaf: Leaf) => (leaf.type === 'numbers' ? leaf.list : results.get(leaf))
  return { value: rebuild(nodes, resultOf), created, errors }
}
