import { inTime } from '../../assets/bodies/abortable.ts'
import { essenceOf, kindOf } from '../../assets/bodies/mime-type.ts'
import { ByrefError } from '../../core/errors.ts'
import { parseAssetRef } from '../../core/refs/asset-ref.ts'
import { isFullType } from '../../models/model-capabilities.ts'
import type { MediaPart } from '../transcript-item.ts'
import { isFetched, type MediaFacts, mediaPlan } from './media-plan.ts'
import { type MediaSource, READ_TIMEOUT_MS } from './media-source.ts'
import { bodyKey, type ReadBody, type ReadPlan, readBody, weightOf } from './read-body.ts'

/** The state of one file: ready, not sent, or missing. */
export type MediaState =
  /** It is ready. Files with the same `key` are sent identically. */
  | { type: 'read'; facts: MediaFacts | null; body: ReadBody; key: string }
  /** The model does not get it, for this reason. */
  | { type: 'note'; facts: MediaFacts | null; why: string }
  /** It does not exist, or could not be read. In that case `error` says why. */
  | { type: 'missing'; error?: unknown }

/** The cache key of a body for a source. */
interface CachePlace {
  type: 'place'
  source: MediaSource
  facts: MediaFacts
  key: string
}

/** Caches the place of each part, because every step looks up all parts of the transcript again. */
const places = new WeakMap<MediaPart, CachePlace>()

/** The states of the files of one model call. They stay available if the cache drops an entry during the call. */
export class MediaStates {
  readonly #source: MediaSource
  readonly #timeoutMs: number
  readonly #found = new Map<string, MediaState>()

  constructor(source: MediaSource) {
    this.#source = source
    this.#timeoutMs = source.options?.timeoutMs ?? READ_TIMEOUT_MS
  }

  /** Returns the state, if it is known without I/O, or null. */
  find(part: MediaPart): MediaState | null {
    const found = this.#found.get(keyOf(part))
    if (found) return found
    const { gone, cache } = this.#source
    if (gone?.has(part.ref)) return this.#keep(part, { type: 'missing' })
    const place = this.#placeOf(part)
    if (!place) return null
    if (place.type !== 'place') return this.#keep(part, place)
    const { facts, key } = place
    const body = cache.get(key) as ReadBody | undefined
    if (!body || isExpired(body)) return null
    return this.#keep(part, { type: 'read', facts, body, key: contentKey(facts, body) })
  }

  /** Reads and prepares the file. If the store fails, the conversation continues without it. */
  async load(part: MediaPart): Promise<void> {
    if (this.#found.has(keyOf(part))) return
    try {
      this.#keep(part, await this.#resolve(part))
    } catch (error) {
      this.#source.cache.delete(factsKey(part.ref, this.#source))
      this.#keep(part, { type: 'missing', error: isMissing(error) ? undefined : error })
    }
  }

  #keep(part: MediaPart, state: MediaState): MediaState {
    this.#found.set(keyOf(part), state)
    return state
  }

  /** Returns the cache key of the body, or its state if it is not read; null if nothing is known. */
  #placeOf(part: MediaPart): CachePlace | MediaState | null {
    const source = this.#source
    const cached = places.get(part)
    if (cached && isSame(cached.source, source)) return cached
    const facts = source.cache.get(factsKey(part.ref, source)) as MediaFacts | undefined
    if (!facts) return null
    const plan = mediaPlan(facts, part.fallback, source)
    if (plan.type === 'note') return { type: 'note', facts, why: plan.why }
    const key = bodyKey(part.ref, facts, plan, source.namespace)
    const place: CachePlace = { type: 'place', source, facts, key }
    places.set(part, place)
    return place
  }

  async #resolve(part: MediaPart): Promise<MediaState> {
    const source = this.#source
    const { ref } = part
    if (!ref.startsWith('asset:')) return webFile(part, source)
    const facts = await inTime(`Reading ${ref}`, this.#timeoutMs, () => loadFacts(ref, source))
    const plan = mediaPlan(facts, part.fallback, source)
    if (plan.type === 'note') return { type: 'note', facts, why: plan.why }
    const ms = this.#timeoutMs + Math.ceil(facts.size / 2 ** 20) * MS_PER_MIB
    return inTime(`Reading ${ref}`, ms, () => this.#read(ref, facts, plan))
  }

  async #read(ref: string, facts: MediaFacts, plan: ReadPlan): Promise<MediaState> {
    const { cache, namespace } = this.#source
    const key = bodyKey(ref, facts, plan, namespace)
    const make = async () => {
      const value = await readBody(ref, { facts, plan }, this.#source)
      return { value, bytes: weightOf(value) }
    }
    let body = await cache.load(key, make)
    if (isExpired(body)) {
      cache.delete(key)
      body = await cache.load(key, make)
    }
    return { type: 'read', facts, body, key: contentKey(facts, body) }
  }
}

function keyOf({ ref, fallback }: MediaPart): string {
  return `${fallback} ${ref}`
}

function isExpired(body: ReadBody): boolean {
  return body.type === 'url' && body.until < Date.now()
}

/** Whether two sources prepare a body in the same way. */
function isSame(a: MediaSource, b: MediaSource): boolean {
  return (
    a.cache === b.cache &&
    a.capabilities === b.capabilities &&
    a.namespace === b.namespace &&
    a.options?.imageMaxSide === b.options?.imageMaxSide &&
    a.assets.config.inlineThresholdBytes === b.assets.config.inlineThresholdBytes
  )
}

/** Additional time to read a body, in milliseconds for each MiB. */
const MS_PER_MIB = 1000

/** Returns a key that is equal for bodies that are sent identically. */
function contentKey({ identity }: MediaFacts, body: ReadBody): string {
  return `${identity} ${body.type} ${'mime' in body ? body.mime : ''}`
}

/** Returns the state of a web address. Only the provider fetches it, because byref might reach internal addresses. */
async function webFile(
  { ref, mimeType }: MediaPart,
  { capabilities }: MediaSource,
): Promise<MediaState> {
  const url = URL.parse(ref)
  const why = 'the provider does not fetch such URLs, and byref does not fetch URLs in messages'
  if (url?.protocol !== 'https:')
    return { type: 'note', facts: null, why: 'it is not an https URL' }
  const type = isFullType(mimeType) ? mimeType : await typeOfPath(url.pathname, mimeType)
  if (!isFetched(capabilities, type, ref)) return { type: 'note', facts: null, why }
  const body: ReadBody = { type: 'url', mime: type, url, until: Infinity }
  return { type: 'read', facts: null, body, key: ref }
}

async function typeOfPath(path: string, fallback: string): Promise<string> {
  const { default: mime } = await import('mime')
  return mime.getType(path) ?? fallback
}

/** Error codes which mean that a reference leads to nothing. */
const MISSING = new Set(['asset_not_found', 'field_not_found', 'invalid_reference'])

/** Approximate size of facts in the cache, in bytes. */
const FACTS_BYTES = 1000

/** Returns the cache key for the facts of a reference. */
function factsKey(ref: string, { namespace }: Pick<MediaSource, 'namespace'>): string {
  return `facts ${JSON.stringify([namespace, ref])}`
}

/** Returns the facts from the cache or the assets. Failures are not cached. */
function loadFacts(ref: string, source: MediaSource): Promise<MediaFacts> {
  return source.cache.load(factsKey(ref, source), async () => ({
    value: await readFacts(ref, source),
    bytes: FACTS_BYTES,
  }))
}

/** Whether an error means that a reference leads to nothing. */
function isMissing(error: unknown): boolean {
  return error instanceof ByrefError && MISSING.has(error.code)
}

async function readFacts(ref: string, { assets, namespace }: MediaSource): Promise<MediaFacts> {
  const { mime, kind, size, name, digest, structured } = await assets.info(ref)
  const whole = { mime: essenceOf(mime), kind, size, name, identity: digest, isValue: structured }
  if (!parseAssetRef(ref)?.fieldPath) return whole
  const field = await assets.get(ref).catch((error: unknown) => {
    // A list that contains bytes cannot be sent as a file.
    if (error instanceof ByrefError && error.code === 'asset_unsupported') return null
    throw error
  })
  const fieldMime = field ? essenceOf(field.mime) : 'application/octet-stream'
  const [family] = fieldMime.split('/')
  return {
    mime: fieldMime,
    kind: kindOf(fieldMime),
    size: field?.bytes.byteLength ?? 0,
    name: null,
    identity: JSON.stringify([namespace, ref]),
    isValue: !field || family === 'text' || family === 'application',
  }
}
