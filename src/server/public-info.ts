import type { AssetInfo } from '../assets/asset-info.ts'

/** What the API says of an asset (docs/http-api.md). */
export function publicInfo(info: AssetInfo): Record<string, unknown> {
  const { assetId, ref, mime, kind, size, digest, name, createdAt } = info
  return { assetId, ref, mime, kind, size, digest, name, createdAt }
}
