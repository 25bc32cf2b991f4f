import { inTime } from '../../assets/in-time.ts'
import { isFullType } from '../../models/model-capabilities.ts'
import type { MediaPart } from '../transcript-item.ts'
import { factsKey, isMissing, loadFacts, type MediaFacts } from './media-facts.ts'
import { isFetched, mediaPlan, type PlanOptions } from './media-plan.ts'
import type { MediaSource } from './media-source.ts'
import { MAX_TEXT_CHARS } from './media-source.ts'
import { bodyKey, type ReadBody, type ReadPlan, readBody, weightOf } from './read-body.ts'

/** What has become of one reference. */
export type Standing =
  | {
      type: 'read'
      facts: MediaFacts | null
      body: ReadBody /** Equal for equal bodies. */
      key: string
    }
  | { type: 'note'; facts: MediaFacts | null; why: string }
  /** Nothing is there, or it could not be read: then `error` says why. */
  | { type: 'missing'; error?: unknown }

/** What has become of the references of one call. */
export interface Standings {
  /** What is known without I/O, or null. */
  find(part: MediaPart): Standing | null
  /** Finds out, with I/O. */
  load(part: MediaPart): Promise<void>
}

/** Where a body is kept for a source. */
interface Place {
  type: 'place'
  source: MediaSource
  facts: MediaFacts
  key: string
}

/** The places of parts that were met before: a transcript keeps its parts, and every step meets all of them again. */
const places = new WeakMap<MediaPart, Place>()

/** Whether two sources make the same of a body. */
function isSame(a: MediaSource, b: MediaSource): boolean {
  return (
    a.cache === b.cache &&
    a.capabilities === b.capabilities &&
    a.namespace === b.namespace &&
    a.options?.imageMaxSide === b.options?.imageMaxSide &&
    a.options?.maxTextChars === b.options?.maxTextChars &&
    a.assets.config.inlineThresholdBytes === b.assets.config.inlineThresholdBytes
  )
}

/** The standings of one call: what the cache forgets meanwhile stays here. */
export function createStandings(source: MediaSource): Standings {
  const { capabilities, assets, cache, namespace, options = {} } = source
  const { imageMaxSide = 2048, maxTextChars = MAX_TEXT_CHARS, timeoutMs = 20_000 } = options
  const { inlineThresholdBytes } = assets.config
  const planOptions: PlanOptions = {
    capabilities,
    imageMaxSide,
    inlineThresholdBytes,
    maxTextChars,
  }
  const found = new Map<string, Standing>()

  function keyOf({ ref, otherwise }: MediaPart): string {
    return otherwise === 'short' ? `short ${ref}` : ref
  }

  function keep(part: MediaPart, standing: Standing): Standing {
    found.set(keyOf(part), standing)
    return standing
  }

  function find(part: MediaPart): Standing | null {
    const known = found.get(keyOf(part))
    if (known) return known
    if (source.gone?.has(part.ref)) return keep(part, { type: 'missing' })
    const place = placeOf(part)
    if (!place) return null
    if (place.type !== 'place') return keep(part, place)
    const { facts, key } = place
    const body = cache.peek(key) as ReadBody | undefined
    if (!body || (body.type === 'url' && body.until < Date.now())) return null
    return keep(part, { type: 'read', facts, body, key: sameness(facts, body) })
  }

  /** Where the body is kept; its standing where there is none to keep; null where nothing is known of it. */
  function placeOf(part: MediaPart): Place | Standing | null {
    const known = places.get(part)
    if (known && isSame(known.source, source)) return known
    const facts = cache.peek(factsKey(part.ref, source)) as MediaFacts | undefined
    if (!facts) return null
    const plan = mediaPlan(facts, part.otherwise, planOptions)
    if (plan.type === 'note') return { type: 'note', facts, why: plan.why }
    const key = bodyKey(part.ref, facts, plan, namespace)
    const place: Place = { type: 'place', source, facts, key }
    places.set(part, place)
    return place
  }

  async function read(part: MediaPart, facts: MediaFacts, plan: ReadPlan): Promise<Standing> {
    const key = bodyKey(part.ref, facts, plan, namespace)
    const make = async () => {
      const value = await readBody(part.ref, { facts, plan }, source)
      return { value, bytes: weightOf(value) }
    }
    let body = await cache.load(key, make)
    if (body.type === 'url' && body.until < Date.now()) {
      cache.forget(key)
      body = await cache.load(key, make)
    }
    return { type: 'read', facts, body, key: sameness(facts, body) }
  }

  async function resolve(part: MediaPart): Promise<Standing> {
    if (!part.ref.startsWith('asset:')) return foreign(part, source)
    const facts = await inTime(`Reading ${part.ref}`, timeoutMs, () => loadFacts(part.ref, source))
    if (!facts) return { type: 'missing' }
    const plan = mediaPlan(facts, part.otherwise, planOptions)
    if (plan.type === 'note') return { type: 'note', facts, why: plan.why }
    const ms = timeoutMs + Math.ceil(facts.size / 2 ** 20) * MS_PER_MIB
    return inTime(`Reading ${part.ref}`, ms, () => read(part, facts, plan))
  }

  return {
    find,
    async load(part) {
      if (found.has(keyOf(part))) return
      try {
        keep(part, await resolve(part))
      } catch (error) {
        // Whatever a store does, the conversation goes on without this body.
        cache.forget(factsKey(part.ref, source))
        keep(part, { type: 'missing', error: isMissing(error) ? undefined : error })
      }
    },
  }
}

/** A large body may take longer. */
const MS_PER_MIB = 1000

/** Equal for bodies that are sent as the same, wherever they are kept. */
function sameness({ identity }: MediaFacts, body: ReadBody): string {
  return `${identity} ${body.type} ${'mime' in body ? body.mime : ''}`
}

/** A URL that somebody wrote: it is the provider's to fetch, never the engine's, which would reach what others cannot. */
async function foreign(
  { ref, mimeType }: MediaPart,
  { capabilities }: MediaSource,
): Promise<Standing> {
  const url = URL.parse(ref)
  const why = 'its provider fetches no such URL, and byref fetches none that people write'
  if (url?.protocol !== 'https:') return { type: 'note', facts: null, why: 'it is no https URL' }
  const type = isFullType(mimeType) ? mimeType : await typeOfPath(url.pathname, mimeType)
  if (!isFetched(capabilities, type, ref)) return { type: 'note', facts: null, why }
  const body: ReadBody = { type: 'url', mime: type, url, until: Infinity }
  return { type: 'read', facts: null, body, key: ref }
}

async function typeOfPath(path: string, otherwise: string): Promise<string> {
  const { default: mime } = await import('mime')
  return mime.getType(path) ?? otherwise
}
