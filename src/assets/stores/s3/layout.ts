import type { AssetRecord } from '../../asset-store.ts'
import { sha256 } from '../../bodies/digest.ts'
import { spaceName } from '../space-name.ts'

/**
 * Keys below the prefix, all of hashes, so that none can leave its namespace.
 *
 * ```
 * spaces/<space>.json                      the namespace in full
 * <space>/records/<key>.json               an asset, by the hash of its id
 * <space>/newest/<time>-<id>               the same, sorted: newest first
 * <space>/bodies/<digest>                  a body, by its SHA-256
 * <space>/refs/<digest>/<holder>           one for each asset that needs the body
 * <space>/aside/<digest>/<id>              a body that is being removed
 * <space>/claims/<key>/<id>                a writer that wants an id which somebody chose
 * staging/<id>                             an upload whose digest is not known yet
 * ```
 */
export interface S3Space {
  folder: string
  description: string
  records: string
  newest: string
  bodies: string
  refs: string
  aside: string
  record(assetId: string): string
  place(record: Pick<AssetRecord, 'createdAt' | 'assetId'>): string
  body(digest: string): string
  refsOf(digest: string): string
  digestOfRef(key: string): string
  asideOf(digest: string): string
  claims: string
  claimsOf(assetId: string): string
}

const LAST_TIME = 8_640_000_000_000_000
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz'

/** The keys of one namespace. */
export function s3Space(prefix: string, namespace: string | null): S3Space {
  const name = spaceName(namespace)
  const folder = `${prefix}${name}/`
  const records = `${folder}records/`
  const newest = `${folder}newest/`
  const bodies = `${folder}bodies/`
  const refs = `${folder}refs/`
  const aside = `${folder}aside/`
  const claims = `${folder}claims/`
  return {
    folder,
    description: `${prefix}spaces/${name}.json`,
    records,
    newest,
    bodies,
    refs,
    aside,
    record: (assetId) => `${records}${recordKey(assetId)}.json`,
    place: ({ createdAt, assetId }) =>
      `${newest}${String(LAST_TIME - Date.parse(createdAt)).padStart(16, '0')}-${descending(assetId)}-${recordKey(assetId)}`,
    body: (digest) => `${bodies}${digest}`,
    refsOf: (digest) => `${refs}${digest}/`,
    digestOfRef: (key) => key.slice(refs.length, key.lastIndexOf('/')),
    asideOf: (digest) => `${aside}${digest}/`,
    claims,
    claimsOf: (assetId) => `${claims}${recordKey(assetId)}/`,
  }
}

/** The record's key in the key of its place. */
export function recordOfPlace(space: Pick<S3Space, 'records'>, place: string): string {
  return `${space.records}${place.slice(place.lastIndexOf('-') + 1)}.json`
}

function recordKey(assetId: string): string {
  return sha256(assetId).slice(0, 40)
}

/** Text that sorts the other way round, for ids of the usual letters; others of one millisecond come in any order. */
function descending(assetId: string): string {
  if (!/^[0-9a-z]{1,64}$/.test(assetId)) return '~'
  return [...assetId].map((char) => DIGITS[DIGITS.length - 1 - DIGITS.indexOf(char)]).join('')
}
