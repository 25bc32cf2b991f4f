import type { S3Bucket } from '../bodies/s3/connector.ts'
import { inParallel } from '../in-parallel.ts'
import { type BucketSpace, parseUse } from './bucket-layout.ts'
import { objectsUnder, putText } from './bucket-objects.ts'
import type { NewEntry, PlacedBody } from './record-index.ts'

/**
 * How processes that know nothing of each other share bodies. Whoever needs a body first writes its use, then looks for a
 * mark that the body is going. Whoever gives up the last use first writes a mark, then looks for uses again. So of the
 * two one always sees the other: a body with a use and no mark stays. Each writes a mark of its own and takes back no other: two may give up
 * the last uses at once, and only one of them meet a new one.
 */
export interface BodyUses {
  /** The bodies of a digest that may be used. */
  find(space: BucketSpace, digest: string): Promise<PlacedBody[]>
  /** Begins to use bodies, those that are there rather than new ones. */
  begin(
    space: BucketSpace,
    bodies: NewEntry['bodies'],
    holder: string,
  ): Promise<{ bodies: PlacedBody[]; unused: string[]; missing: string[] }>
  /** Gives up uses; gives the bodies that nobody uses now. */
  end(space: BucketSpace, bodies: readonly PlacedBody[], holder: string): Promise<PlacedBody[]>
  /** Those of the keys of bodies that are used. */
  held(spaces: readonly BucketSpace[], keys: readonly string[]): Promise<Set<string>>
}

const AT_ONCE = 16

/** Uses in a bucket. */
export function createBodyUses(at: S3Bucket): BodyUses {
  const { connector, bucket } = at
  const isGoing = (space: BucketSpace, body: PlacedBody) => hasAny(space.marksOf(body))
  const isUsed = (space: BucketSpace, body: PlacedBody) => hasAny(space.usersOf(body))

  async function hasAny(prefix: string): Promise<boolean> {
    const { objects } = await connector.list({ bucket, prefix, limit: 1 })
    return objects.length > 0
  }

  async function find(space: BucketSpace, digest: string): Promise<PlacedBody[]> {
    const bodies = new Map<string, PlacedBody>()
    for await (const { key } of objectsUnder(at, space.usesOf(digest))) {
      const { holder: _, ...body } = parseUse(space, key)
      bodies.set(body.key, body)
    }
    const found: PlacedBody[] = []
    for (const body of bodies.values()) if (!(await isGoing(space, body))) found.push(body)
    return found
  }

  async function use(space: BucketSpace, body: PlacedBody, holder: string): Promise<boolean> {
    const key = `${space.usersOf(body)}${holder}`
    await putText(at, key, '')
    if (!(await isGoing(space, body))) return true
    await connector.delete({ bucket, key })
    return false
  }

  async function useAny(space: BucketSpace, digest: string, holder: string) {
    for (const body of await find(space, digest)) if (await use(space, body, holder)) return body
    return null
  }

  return {
    find,

    async begin(space, wanted, holder) {
      const result = { bodies: [] as PlacedBody[], unused: [] as string[], missing: [] as string[] }
      const places = new Map<string, PlacedBody>()
      await inParallel(wanted, { limit: AT_ONCE }, async ({ digest, size, key }) => {
        const there = await useAny(space, digest, holder)
        // Its own, when it begins again and another uses that by now.
        if (there && key && there.key !== key) result.unused.push(key)
        if (there) places.set(digest, there)
        else if (key === null) result.missing.push(digest)
        else {
          const own = { digest, size, key }
          await putText(at, `${space.usersOf(own)}${holder}`, '')
          places.set(digest, own)
        }
      })
      result.bodies = wanted.flatMap(({ digest }) => places.get(digest) ?? [])
      return result
    },

    async end(space, bodies, holder) {
      const freed: PlacedBody[] = []
      await inParallel(bodies, { limit: AT_ONCE }, async (body) => {
        await connector.delete({ bucket, key: `${space.usersOf(body)}${holder}` })
        if (await isUsed(space, body)) return
        const mark = `${space.marksOf(body)}${holder}`
        await putText(at, mark, '')
        if (await isUsed(space, body)) await connector.delete({ bucket, key: mark })
        else freed.push(body)
      })
      return freed
    },

    async held(spaces, keys) {
      const asked = new Set(keys)
      const found = new Set<string>()
      for (const space of asked.size > 0 ? spaces : []) {
        for await (const { key } of objectsUnder(at, space.uses)) {
          const body = parseUse(space, key)
          if (asked.has(body.key)) found.add(body.key)
        }
      }
      return found
    },
  }
}
