import { join } from 'node:path'
import { sha256 } from '../../bodies/digest.ts'
import { extensionOf } from '../../bodies/mime-type.ts'
import { spaceName } from '../space-name.ts'

/**
 * Where things lie under a store's root. Every name is lower-case and made of hashes, so that no id, namespace or file
 * name can leave its folder, and two that differ only by case never meet.
 *
 * ```
 * byref-assets.json                           what this folder is, and its version
 * writers/<writer>/…                          unfinished work of one store in one process
 * <space>/space.json                          the namespace in full
 * <space>/records/a/<key>.json                an asset, by the hash of its id
 * <space>/bodies/cd/<digest>                  a body, by its SHA-256
 * <space>/bodies/cd/<digest>.<holder>.ref     one for each asset that needs the body
 * <space>/bodies/cd/<digest>.<id>.trash       a body that is being removed
 * <space>/bodies/cd/<digest>.png              its public name, where there is a baseUrl
 * ```
 */
export interface FsLayout {
  root: string
  marker: string
  writers: string
  space(namespace: string | null): FsSpace
}

/** The folders of one namespace. */
export interface FsSpace {
  folder: string
  /** Path of `folder` below the root, for URLs. */
  name: string
  description: string
  records: string
  bodies: string
  record(assetId: string): string
  bodyFolder(digest: string): string
  body(digest: string): string
  ref(digest: string, holder: string): string
  publicName(digest: string, mime: string): string
}

/** The layout below `root`. */
export function fsLayout(root: string): FsLayout {
  return {
    root,
    marker: join(root, 'byref-assets.json'),
    writers: join(root, 'writers'),
    space(namespace) {
      const name = spaceName(namespace)
      const folder = join(root, name)
      const records = join(folder, 'records')
      const bodies = join(folder, 'bodies')
      const shard = (hash: string) => hash.slice(0, 2)
      return {
        folder,
        name,
        description: join(folder, 'space.json'),
        records,
        bodies,
        record(assetId) {
          const key = sha256(assetId).slice(0, 40)
          return join(records, key.slice(0, 1), `${key}.json`)
        },
        bodyFolder: (digest) => join(bodies, shard(digest)),
        body: (digest) => join(bodies, shard(digest), digest),
        ref: (digest, holder) => join(bodies, shard(digest), `${digest}.${holder}.ref`),
        publicName: (digest, mime) => join(bodies, shard(digest), `${digest}.${extensionOf(mime)}`),
      }
    },
  }
}
