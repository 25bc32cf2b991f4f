import { inTime } from '../../assets/bodies/abortable.ts'
import { isFullType } from '../../models/model-capabilities.ts'
import type { MediaPart } from '../transcript-item.ts'
import { factsKey, isMissing, loadFacts, type MediaFacts } from './media-facts.ts'
import { isFetched, mediaPlan, type PlanOptions } from './media-plan.ts'
import type { MediaSource } from './media-source.ts'
import { MAX_TEXT_CHARS } from './media-source.ts'
import { bodyKey, type ReadBody, type ReadPlan, readBody, weightOf } from './read-body.ts'

/** The state of one reference: not read yet, ready, or failed. */
export type Standing =
  | {
      type: 'read'
      facts: MediaFacts | null
      body: ReadBody /** The digest: equal for equal bodies. */
      key: string
    }
  | { type: 'note'; facts: MediaFacts | null; why: string }
  /** It does not exist, or could not be read. In that case `error` says why. */
  | { type: 'missing'; error?: unknown }

/** The states of the references of one model call. */
export interface Standings {
  /** Returns what is known without I/O, or null. */
  find(part: MediaPart): Standing | null
  /** Reads and prepares the body. */
  load(part: MediaPart): Promise<void>
}

/** Returns the cache key of a body for a source. */
interface Place {
  type: 'place'
  source: MediaSource
  facts: MediaFacts
  key: string
}

/**
 * The cache keys of parts that were seen before. A transcript keeps its parts, and every step sees all of them
 * again.
 */
const places = new WeakMap<MediaPart, Place>()

/** Whether two sources prepare a body in the same way. */
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

/** Creates the states for one model call. They survive if the cache drops an entry meanwhile. */
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

  /** Returns the cache key of the body, or its state if it cannot be cached; null if nothing is known. */
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
        // If the store fails, the conversation continues without this body.
        cache.forget(factsKey(part.ref, source))
        keep(part, { type: 'missing', error: isMissing(error) ? undefined : error })
      }
    },
  }
}

/** A larger body gets more time. */
const MS_PER_MIB = 1000

/** Equal for bodies that are sent identically. */
function sameness({ identity }: MediaFacts, body: ReadBody): string {
  return `${identity} ${body.type} ${'mime' in body ? body.mime : ''}`
}

/** A URL in a message. Only the provider fetches it: byref might reach internal addresses. */
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

async function typeOfPath(path: string, fallback: string): Promise<string> {
  const { default: mime } = await import('mime')
  return mime.getType(path) ?? fallback
}
