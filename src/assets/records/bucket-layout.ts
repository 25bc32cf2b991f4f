import { sha256 } from '../bodies/digest.ts'
import { spaceName } from '../space-name.ts'
import type { PlacedBody } from './record-index.ts'
import type { RecordPlace } from './record-page.ts'

/**
 * Keys below `records/`, all of hashes, so that none can leave its namespace.
 *
 * ```
 * self                                      the index's own id
 * claims/<id>                               a writer that wants to say it
 * spaces/<space>.json                       the namespace in full
 * <space>/assets/<hash>.json                an entry, by the hash of its asset's id
 * <space>/newest/<time>-<id>-<hash>-<holder> the same, sorted: newest first
 * <space>/uses/<digest>/<body>/<holder>     one for each entry that needs the body
 * <space>/gone/<digest>/<body>/<holder>     one who held it says that nobody may begin to use it
 * <space>/claims/<hash>/<id>                a writer that wants an id which somebody chose
 * ```
 */
export interface BucketSpace {
  description: string
  assets: string
  newest: string
  uses: string
  gone: string
  claims: string
  asset(assetId: string): string
  place(record: RecordPlace, holder: string): string
  /** What sorts right behind the place of a record, whoever holds it. */
  behind(record: RecordPlace): string
  usesOf(digest: string): string
  usersOf(body: PlacedBody): string
  marksOf(body: PlacedBody): string
  claimsOf(assetId: string): string
}

const LAST_TIME = 8_640_000_000_000_000
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz'

/** The keys of one namespace below a prefix. */
export function bucketSpace(prefix: string, namespace: string | null): BucketSpace {
  const name = spaceName(namespace)
  const folder = `${prefix}${name}/`
  const stemOf = ({ createdAt, assetId }: RecordPlace) =>
    `${folder}newest/${String(LAST_TIME - Date.parse(createdAt)).padStart(16, '0')}-${descending(assetId)}-${hashOf(assetId)}`
  const space = {
    description: `${prefix}spaces/${name}.json`,
    assets: `${folder}assets/`,
    newest: `${folder}newest/`,
    uses: `${folder}uses/`,
    gone: `${folder}gone/`,
    claims: `${folder}claims/`,
  }
  return {
    ...space,
    asset: (assetId) => `${space.assets}${hashOf(assetId)}.json`,
    place: (record, holder) => `${stemOf(record)}-${holder}`,
    behind: (record) => `${stemOf(record)}~`,
    usesOf: (digest) => `${space.uses}${digest}/`,
    usersOf: (body) => `${space.uses}${body.digest}/${nameOf(body)}/`,
    marksOf: (body) => `${space.gone}${body.digest}/${nameOf(body)}/`,
    claimsOf: (assetId) => `${space.claims}${hashOf(assetId)}/`,
  }
}

/** The entry's key in the key of its place. */
export function assetOfPlace({ assets, newest }: BucketSpace, place: string): string {
  return `${assets}${place.slice(newest.length).split('-')[2]}.json`
}

/** The body and the holder in the key of a use. */
export function parseUse({ uses }: BucketSpace, key: string): PlacedBody & { holder: string } {
  const [digest = '', name = '', holder = ''] = key.slice(uses.length).split('/')
  const [size, ...steps] = name.split('~')
  return { digest, size: Number(size), key: steps.join('/'), holder }
}

/** Of a body's size and key, without steps. */
function nameOf({ size, key }: PlacedBody): string {
  return `${size}~${key.replaceAll('/', '~')}`
}

function hashOf(assetId: string): string {
  return sha256(assetId).slice(0, 40)
}

/** Text that sorts the other way round, for ids of the usual letters; others of one millisecond come in any order. */
function descending(assetId: string): string {
  if (!/^[0-9a-z]{1,64}$/.test(assetId)) return '~'
  return [...assetId].map((char) => DIGITS[DIGITS.length - 1 - DIGITS.indexOf(char)]).join('')
}
