import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError, errorMessage, loggedMessage } from '../../core/errors.ts'
import type {
  AssetCreated,
  AssetEvent,
  AssetFailed,
  AssetOrigin,
} from '../../core/events/events.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { type AssetInfo, NAMESPACE } from '../asset-store.ts'
import type { Assets } from '../assets-contract.ts'
import { MAKER } from '../assets-options.ts'
import { meterStream } from '../bodies/body.ts'
import type { BodyInput } from '../bodies/body-input.ts'
import { kindOf, parseMimeType } from '../bodies/mime-type.ts'
import { inParallel } from '../in-parallel.ts'
import {
  endStreams,
  type Finding,
  type FoundText,
  type FoundValue,
  findAssets,
  type Leaf,
} from './find-assets.ts'
import { type LoadedBody, loadBody, sizeOf, streamIn } from './found-body.ts'
import { rebuild } from './value-tree.ts'

const { setImmediate } = nodeBuiltin('node:timers/promises')

/** Options of {@link extractAssets}. */
export interface ExtractOptions {
  assets: Assets
  by?: AssetOrigin
  /** The ids of the tool and of the call that made the value. */
  tool?: string
  toolCallId?: string
  namespace?: string | null
  /** Maximum number of small bodies that are saved at once; a large body counts as several. Default: 256. */
  concurrency?: number
  signal?: AbortSignal
}

const OPTIONS: OptionTable<ExtractOptions> = {
  ...NAMESPACE,
  assets: is.required(is.having('assets, made by createAssets', 'save', 'saveAsset')),
  by: MAKER.by,
  ...is.all(is.string, 'tool', 'toolCallId'),
  concurrency: is.count,
  signal: is.signal,
}

/** The result of {@link extractAssets}. */
export interface Extracted {
  /** The value with references in place of bodies. The same object if it contains no body. */
  value: unknown
  created: AssetCreated[]
  errors: AssetFailed[]
}

/**
 * Saves every body in a value and puts a reference in its place. The value itself is never changed; parts without bodies
 * are shared. A body that does not decode or cannot be saved becomes an `assetError` in its place and does not affect the
 * others. A stream that occurs several times becomes one asset. Typed arrays of numbers become lists, long ones structured
 * content. Number, String and Boolean objects become primitives. Date, Map and Set keep their type; class instances on
 * the way to a body become plain objects. Keys of objects and Maps are not changed.
 *
 * @throws ByrefError before anything is saved: `too_deep`, `too_many_assets`, `result_too_large`; the last one also if
 * streams turn out to be too long. What `onEvent` throws, and the signal's reason, are thrown unchanged. All streams are
 * ended then.
 */
export async function extractAssets(value: unknown, options: ExtractOptions): Promise<Extracted> {
  checkOptions('extractAssets', options, OPTIONS)
  const { nodes, findings } = findAssets(value, options.assets.config.limits)
  const saver = new FindingSaver(options)
  try {
    await saver.save(findings)
  } catch (error) {
    endStreams(findings, error)
    throw error
  }
  const { results, created, errors } = saver
  const resultOf = (leaf: Leaf) => (leaf.type === 'json' ? leaf.json : results.get(leaf))
  return { value: rebuild(nodes, resultOf), created, errors }
}

type Saved =
  | { info: AssetInfo; error?: undefined }
  | { info?: undefined; error: { code: string; message: string } }

/** 256 bodies of this size: decoded bodies that wait to be saved take less than 64 MiB, unless one alone is larger. */
const BYTES_PER_PLACE = 256 * 1024

/** Bodies that are started before yielding to the event loop. */
const AT_ONCE = 100

/**
 * Saves findings, many at once, and reports them in order. An error of an event handler, an abort, and a result that is
 * too large end all saves.
 */
class FindingSaver {
  /** What each finding becomes in the value. */
  readonly results = new Map<Finding, unknown>()
  readonly created: AssetCreated[] = []
  readonly errors: AssetFailed[] = []
  readonly #options: ExtractOptions
  readonly #stop = new AbortController()
  readonly #signal: AbortSignal
  /** A stream can be read once: every place that has it gets the same reference. */
  readonly #streams = new Map<object, Promise<Saved>>()
  #bodies = 0
  /** Bytes of the result that are known so far. */
  #total = 0

  constructor(options: ExtractOptions) {
    this.#options = options
    const { signal } = options
    this.#signal = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal
  }

  /** @throws ByrefError `result_too_large`: before anything is saved if sizes are known, else while streams flow */
  async save(findings: readonly Finding[]): Promise<void> {
    const distinct = new Map(findings.map((finding) => [streamOf(finding) ?? finding, finding]))
    for (const finding of distinct.values()) this.#total += bytesOf(finding)
    this.#checkTotal()
    let turn = Promise.resolve()
    const queue = findings.map((finding) => {
      const { promise, resolve: end } = Promise.withResolvers<void>()
      const queued = { finding, turn, end }
      turn = promise
      return queued
    })
    const limit = this.#options.concurrency ?? 256
    const places = ({ finding }: { finding: Finding }) =>
      1 + Math.floor(bytesOf(finding) / BYTES_PER_PLACE)
    await inParallel(queue, { limit, places }, async ({ finding, turn: own, end }) => {
      try {
        const isText = finding.type === 'text'
        const saving = isText ? this.#saveText(finding, own) : this.#saveValue(finding, own)
        this.results.set(finding, await saving)
      } catch (error) {
        this.#stop.abort(error)
        throw error
      } finally {
        await own
        end()
      }
    })
  }

  async #saveValue(finding: FoundValue, turn: Promise<void>): Promise<unknown> {
    const { body, mime, rest } = finding
    const stream = streamIn(body)
    const saving = (stream && this.#streams.get(stream)) ?? this.#saveBody(finding, turn)
    if (stream) this.#streams.set(stream, saving)
    const { info, error } = await saving
    if (info) return { assetRef: info.ref, mimeType: info.mime, kind: info.kind, ...rest }
    return { assetError: error, ...(isMimeType(mime) && { mimeType: mime }), ...rest }
  }

  async #saveText({ text, urls, origin }: FoundText, turn: Promise<void>): Promise<string> {
    let result = ''
    let at = 0
    for (const url of urls) {
      const body = { type: 'data-url', url } as const
      const about = { mime: url.mime, name: null, origin }
      const { info, error } = await this.#saveBody({ body, ...about }, turn)
      result += text.slice(at, url.start)
      result += info ? `<|${info.ref}|>` : `[asset error: ${error.message}]`
      at = url.end
    }
    return result + text.slice(at)
  }

  /** @param turn Resolves when the events of earlier findings were delivered. */
  async #saveBody(
    { body: found, mime, name, origin }: Omit<FoundValue, 'type' | 'rest'>,
    turn: Promise<void>,
  ): Promise<Saved> {
    // Saving to memory would otherwise block the event loop.
    if (++this.#bodies % AT_ONCE === 0) await setImmediate()
    const { assets, by, tool, toolCallId, namespace } = this.#options
    const signal = this.#signal
    let isReported = false
    const onEvent = async (event: AssetEvent): Promise<void> => {
      await turn
      isReported = true
      if (event.type === 'ASSET_CREATED') this.created.push(event.payload)
      else this.errors.push(event.payload)
    }
    const scoped = assets.scoped({ by, tool, toolCallId, namespace, onEvent })
    try {
      const body = loadBody(found)
      if ('content' in body) {
        const { content, contentType: content_type } = body
        return { info: await scoped.saveAsset({ content_type, content }, { origin, signal }) }
      }
      const claim = [mime, body.mime].find(isMimeType)
      checkContent(body, claim)
      const about = { name: name ?? body.name, origin, owned: body.owned, signal }
      return { info: await scoped.save(this.#counted(body.input, sizeOf(found)), claim, about) }
    } catch (error) {
      // The asset was saved: the error is that of an event handler.
      if (isReported) throw error
      signal.throwIfAborted()
      this.#checkTotal()
      const failure = failureOf(error)
      await scoped.reportError({ ...failure, origin, ...(isMimeType(mime) && { mime }) })
      return { error: failure }
    }
  }

  /** Wraps a body so that its stream counts the bytes beyond `size`, which is already counted. */
  #counted(body: BodyInput, size: number): BodyInput {
    if (!(body instanceof ReadableStream)) return body
    let streamed = 0
    const onChunk = (chunk: Uint8Array): void => {
      const before = Math.max(streamed, size)
      streamed += chunk.byteLength
      this.#total += Math.max(streamed, size) - before
      this.#checkTotal()
    }
    return meterStream(body, { onChunk }).stream
  }

  #checkTotal(): void {
    const limit = this.#options.assets.config.limits.resultBytes
    if (this.#total <= limit) return
    throw new ByrefError(
      'result_too_large',
      `The result holds more than ${limit} bytes of assets (limits.resultBytes).`,
    )
  }
}

function streamOf(finding: Finding): object | null {
  return finding.type === 'value' ? streamIn(finding.body) : null
}

/** Returns the bytes of a finding, as far as they are known. */
function bytesOf(finding: Finding): number {
  if (finding.type === 'value') return sizeOf(finding.body)
  return finding.urls.reduce((sum, url) => sum + url.data.length * 0.75, 0)
}

/** Returns whether a declared type, which may be anything, is a MIME type. */
function isMimeType(claim: string | null | undefined): claim is string {
  return typeof claim === 'string' && parseMimeType(claim) !== null
}

/** An empty file is a file, but nothing empty is an image, audio or video. */
function checkContent({ input }: LoadedBody, claim: string | undefined): void {
  const isEmpty =
    input instanceof Blob ? input.size === 0 : input instanceof Uint8Array && input.byteLength === 0
  const kind = claim === undefined ? 'file' : kindOf(claim)
  if (!isEmpty || kind === 'file') return
  throw new ByrefError('asset_invalid', `The body is empty, so it is not a valid ${kind} file.`)
}

function failureOf(error: unknown): { code: string; message: string } {
  if (error instanceof ByrefError) return { code: error.code, message: loggedMessage(error) }
  return { code: 'storage_failed', message: `Saving failed: ${errorMessage(error)}` }
}
