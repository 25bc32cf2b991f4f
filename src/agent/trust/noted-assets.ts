import type { AssetRefInput } from '../../assets/asset-locator.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { type Label, UNKNOWN } from '../../content/label.ts'
import type { Labels } from '../../content/labels.ts'
import { referencesIn } from '../../content/references-in.ts'
import { isAssetRef, parseAssetRef } from '../../refs/asset-ref.ts'

/** The methods that read what a reference names. */
const READING: readonly (keyof Assets)[] = [
  ...([
    'get',
    'getBase64',
    'getDataUrl',
    'open',
    'info',
    'urlFor',
    'resolve',
    'rows',
    'meta',
  ] as const),
]

/**
 * Assets that note the labels of what is read (spec Q7), but of what was saved by the same execution.
 *
 * @param isOwn Whether the execution made an asset.
 */
export function notedAssets(
  assets: Assets,
  { labels, isOwn, note }: { labels: Labels; isOwn(id: string): boolean; note(label: Label): void },
): Assets {
  const noteRef = (ref: AssetRefInput): void => {
    const parts = typeof ref === 'string' && !isAssetRef(ref) ? { id: ref } : parseAssetRef(ref)
    if (parts && !isOwn(parts.id)) note(labels.asset(parts))
  }
  const reading = Object.fromEntries(
    READING.map((name) => {
      const method = assets[name as 'info'] as (ref: AssetRefInput, ...rest: unknown[]) => unknown
      return [
        name,
        (ref: AssetRefInput, ...rest: unknown[]) => {
          noteRef(ref)
          return method(ref, ...rest)
        },
      ]
    }),
  )
  return {
    ...assets,
    ...reading,
    config: assets.config,
    query(query, options) {
      for (const { assets: named } of referencesIn([query.sql, Object.values(query.tables ?? {})]))
        for (const { id, fieldPath } of named) if (!isOwn(id)) note(labels.asset({ id, fieldPath }))
      for (const ref of Object.values(query.tables ?? {})) noteRef(ref)
      return assets.query(query, options)
    },
    list(options) {
      note(UNKNOWN)
      return assets.list(options)
    },
    scoped: (scope) => notedAssets(assets.scoped(scope), { labels, isOwn, note }),
  }
}
