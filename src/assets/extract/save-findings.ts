import { ByrefError, errorMessage } from '../../core/errors.ts'
import type { AssetCreated, AssetEvent, AssetFailed } from '../../core/events/events.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { AssetInfo, AssetMaker } from '../asset-info.ts'
import type { Assets } from '../assets-contract.ts'
import { meterStream } from '../bodies/body.ts'
import type { BodyInput } from '../bodies/body-input.ts'
import { kindOf, parseMimeType } from '../bodies/mime-type.ts'
import { inParallel } from '../in-parallel.ts'
import { endStreams, type Finding, type FoundText, type FoundValue } from './find-assets.ts'
import { type LoadedBody, type LoadedContent, loadBody, sizeOf, streamIn } from './found-body.ts'

const { setImmediate } = nodeBuiltin('node:timers/promises')

/** How findings are saved. */
export interface SaveFindingsOptions {
  assets: Assets
  /** Who made them, and where they go. */
  scope: AssetMaker & { namespace?: string | null }
  /** How many bodies are saved at once, as long as they are small. */
  concurrency: number
  signal?: AbortSignal
}

/** What came of findings. */
export interface SavedFindings {
  /** What each becomes in the value. */
  results: Map<Finding, unknown>
  created: AssetCreated[]
  errors: AssetFailed[]
}

/** A body to save, and what stood beside it. */
interface BodyToSave {
  load(): LoadedBody | LoadedContent
  /** Bytes that are counted already. */
  size: number
  mime: string | null
  name: string | null
  origin: string
}

type Saved =
  | { info: AssetInfo; error?: undefined }
  | { info?: undefined; error: { code: string; message: string } }

/** Saves a body, and tells of it when its turn has begun. */
type SaveBody = (body: BodyToSave) => Promise<Saved>

/** 256 places of this size: what is decoded and not yet saved stays below 64 MiB, or is one body. */
const BYTES_PER_PLACE = 256 * 1024
/** Bodies that are begun before others have their turn. */
const AT_ONCE = 100

/**
 * Saves bodies, many at once, and tells of them in their order. One that cannot be saved becomes an error in its place.
 * What a handler of events throws, an abort, and a result that is too large end all of it, and all streams.
 *
 * @throws ByrefError `result_too_large`: before anything is saved where sizes are known, else as streams flow
 */
export async function saveFindings(
  findings: readonly Finding[],
  options: SaveFindingsOptions,
): Promise<SavedFindings> {
  const { assets, concurrency: limit, signal } = options
  let bodies = 0
  const pause = async (): Promise<void> => {
    if (++bodies % AT_ONCE === 0) await setImmediate()
  }
  const saved: SavedFindings = { results: new Map(), created: [], errors: [] }
  const stop = new AbortController()
  const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
  const streams = new Map<object, Promise<Saved>>()
  try {
    const meter = createResultMeter(findings, assets.config.limits.resultBytes)
    const places = ({ finding }: InTurn) => 1 + Math.floor(sizeOfFinding(finding) / BYTES_PER_PLACE)
    await inParallel(inTurn(findings), { limit, places }, async ({ finding, turn, end }) => {
      const saveBody: SaveBody = (body) =>
        saveInTurn(body, { ...options, signal: either, saved, meter, pause, turn })
      try {
        const isText = finding.type === 'text'
        const saving = isText ? saveText(finding, saveBody) : saveValue(finding, saveBody, streams)
        saved.results.set(finding, await saving)
      } catch (error) {
        stop.abort(error)
        throw error
      } finally {
        await turn
        end()
      }
    })
  } catch (error) {
    endStreams(findings, error)
    throw error
  }
  return saved
}

/** Ours win over keys of the same name: {@link FoundValue.rest} has none of them. */
async function saveValue(
  { body, mime, name, rest, origin }: FoundValue,
  saveBody: SaveBody,
  streams: Map<object, Promise<Saved>>,
): Promise<unknown> {
  const save = () =>
    saveBody({ load: () => loadBody(body), size: sizeOf(body), mime, name, origin })
  const stream = streamIn(body)
  const saving = (stream && streams.get(stream)) ?? save()
  // A stream can be read once: every place that has it gets the same reference.
  if (stream) streams.set(stream, saving)
  const { info, error } = await saving
  if (info) return { assetRef: info.ref, mimeType: info.mime, kind: info.kind, ...rest }
  return { assetError: error, ...(isMimeType(mime) && { mimeType: mime }), ...rest }
}

async function saveText({ text, urls, origin }: FoundText, saveBody: SaveBody): Promise<string> {
  let result = ''
  let at = 0
  for (const url of urls) {
    const load = () => loadBody({ type: 'data-url', url })
    const { info, error } = await saveBody({ load, size: 0, mime: url.mime, name: null, origin })
    result += text.slice(at, url.start)
    result += info ? `<|${info.ref}|>` : `[asset error: ${error.message}]`
    at = url.end
  }
  return result + text.slice(at)
}

interface Saving extends SaveFindingsOptions {
  saved: SavedFindings
  meter: ResultMeter
  pause: () => Promise<void>
  turn: Promise<void>
}

async function saveInTurn(
  { load, size, mime, name, origin }: BodyToSave,
  context: Saving,
): Promise<Saved> {
  const { assets, scope, signal, saved, meter, pause, turn } = context
  // Small bodies in memory give nobody else a turn.
  await pause()
  let isTold = false
  const scoped = assets.scoped({
    ...scope,
    async onEvent(event: AssetEvent) {
      await turn
      isTold = true
      if (event.type === 'ASSET_CREATED') saved.created.push(event.payload)
      else saved.errors.push(event.payload)
    },
  })
  try {
    const body = load()
    if ('content' in body) {
      const { content, contentType: content_type } = body
      return { info: await scoped.saveAsset({ content_type, content }, { origin, signal }) }
    }
    const claim = [mime, body.mime].find(isMimeType)
    checkContent(body, claim)
    const about = { name: name ?? body.name, origin, owned: body.owned, signal }
    return { info: await scoped.save(meter.watch(body.input, size), claim, about) }
  } catch (error) {
    // It was saved: whatever is wrong now is a handler's.
    if (isTold) throw error
    signal?.throwIfAborted()
    meter.check()
    const failure = failureOf(error)
    await scoped.reportError({ ...failure, origin, ...(isMimeType(mime) && { mime }) })
    return { error: failure }
  }
}

/** What a body claims may be anything; what is no type goes nowhere. */
function isMimeType(claim: string | null | undefined): claim is string {
  return typeof claim === 'string' && parseMimeType(claim) !== null
}

/** An empty file is a file, but nothing empty is an image, audio or video. */
function checkContent({ input }: LoadedBody, claim: string | undefined): void {
  const isEmpty = input instanceof Uint8Array && input.byteLength === 0
  const kind = claim === undefined ? 'file' : kindOf(claim)
  if (!isEmpty || kind === 'file') return
  throw new ByrefError('asset_invalid', `The body is empty, which is no ${kind}.`)
}

function failureOf(error: unknown): { code: string; message: string } {
  if (error instanceof ByrefError) return { code: error.code, message: error.message }
  return { code: 'storage_failed', message: `Saving failed: ${errorMessage(error)}` }
}

/** A finding whose turn begins when those before it have ended theirs. */
interface InTurn {
  finding: Finding
  turn: Promise<void>
  end(): void
}

function inTurn(findings: readonly Finding[]): InTurn[] {
  let turn = Promise.resolve()
  return findings.map((finding) => {
    const { promise, resolve: end } = Promise.withResolvers<void>()
    const queued = { finding, turn, end }
    turn = promise
    return queued
  })
}

/** Counts the bytes of one result. */
interface ResultMeter {
  /** The body, counted as it flows beyond the `size` that is counted already. */
  watch(body: BodyInput, size: number): BodyInput
  /** @throws ByrefError `result_too_large` */
  check(): void
}

/**
 * A meter that has counted what is known before: each stream once, by its `content-length`.
 *
 * @throws ByrefError `result_too_large` beyond `limit` bytes
 */
function createResultMeter(findings: readonly Finding[], limit: number): ResultMeter {
  const distinct = new Map(
    findings.map((finding) => [streamOfFinding(finding) ?? finding, finding]),
  )
  let total = 0
  for (const finding of distinct.values()) total += sizeOfFinding(finding)

  function check(): void {
    if (total <= limit) return
    throw new ByrefError(
      'result_too_large',
      `The result holds more than ${limit} bytes of assets (limits.resultBytes).`,
    )
  }

  check()
  return {
    check,
    watch(body, size) {
      if (!(body instanceof ReadableStream)) return body
      let flown = 0
      const onChunk = (chunk: Uint8Array): void => {
        const counted = Math.max(flown, size)
        flown += chunk.byteLength
        total += Math.max(flown, size) - counted
        check()
      }
      return meterStream(body, { onChunk }).stream
    },
  }
}

function streamOfFinding(finding: Finding): object | null {
  return finding.type === 'value' ? streamIn(finding.body) : null
}

/** Bytes of what was found, as far as they are known. */
function sizeOfFinding(finding: Finding): number {
  if (finding.type === 'value') return sizeOf(finding.body)
  return finding.urls.reduce((sum, url) => sum + url.data.length * 0.75, 0)
}
