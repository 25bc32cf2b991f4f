import { objectsUnder, type S3Bucket } from './bodies.ts'
import type { S3Space } from './layout.ts'

/** The refs of a namespace, by the time that their oldest may have. */
export interface Refs {
  /** Digests of bodies with a ref that is younger. */
  young: Set<string>
  /** Keys of the others. */
  old: string[]
}

/** Reads all refs. Ask before records are read: a save puts its refs first. */
export async function readRefs(at: S3Bucket, space: S3Space, before: number): Promise<Refs> {
  const refs: Refs = { young: new Set(), old: [] }
  for await (const { key, modifiedAt } of objectsUnder(at, space.refs)) {
    if (modifiedAt > before) refs.young.add(space.digestOfRef(key))
    else refs.old.push(key)
  }
  return refs
}

/** Tells the bodies that somebody holds from the refs that nobody has, given the holders of all records. */
export function sortRefs(
  refs: Refs,
  space: S3Space,
  holders: ReadonlySet<string>,
): { held: Set<string>; unused: string[] } {
  const held = new Set(refs.young)
  const unused: string[] = []
  for (const key of refs.old) {
    if (holders.has(key.slice(key.lastIndexOf('/') + 1))) held.add(space.digestOfRef(key))
    else unused.push(key)
  }
  return { held, unused }
}
