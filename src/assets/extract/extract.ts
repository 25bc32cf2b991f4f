import type { AssetCreated, AssetFailed, AssetOrigin } from '../../content/events.ts'
import { ByrefError, errorMessage } from '../../errors.ts'
import type { AssetInfo, Assets } from '../assets.ts'
import { parseMimeType } from '../bodies/mime-type.ts'
import { inParallel } from '../in-parallel.ts'
import { type Finding, type FoundText, type FoundValue, findAssets } from './find-assets.ts'
import { type LoadedBody, loadBody, sizeOf } from './found-body.ts'
import { replaceFindings } from './replace-findings.ts'

/** Options of {@link extractAssets}. */
export interface ExtractOptions {
  assets: Assets
  by?: AssetOrigin
  /** The tool's id and the call's, when a tool made the value. */
  tool?: string
  toolCallId?: string
  namespace?: string | null
  /** How many bodies are saved at once, as long as they are small; large ones take several places. Default: 256. */
  concurrency?: number
  signal?: AbortSignal
}

/** What {@link extractAssets} gives back. */
export interface Extracted {
  /** The value with references in place of bodies; the same object if there were none. */
  value: unknown
  created: AssetCreated[]
  errors: AssetFailed[]
}

/** 256 places of this size: what is decoded and not yet saved stays below 64 MiB, or is one body. */
const BYTES_PER_PLACE = 256 * 1024

/** A body that is to be saved, or why it cannot be. */
type SaveBody = (about: {
  load: () => LoadedBody | Promise<LoadedBody>
  mime: string | null
  name: string | null
  origin: string
}) => Promise<Saved>

type Saved =
  | { info: AssetInfo; error?: undefined }
  | { info?: undefined; error: { code: string; message: string } }

/**
 * Saves every body in a value and puts a reference in its place (spec X1–X6). The value itself is never changed; what
 * holds no body is shared. A body that has the shape and does not decode, or cannot be saved, becomes an `assetError`
 * in its place, and costs the others nothing.
 *
 * @throws ByrefError before anything is saved: `too_deep`, `too_many_assets`, `result_too_large`
 */
export async function extractAssets(value: unknown, options: ExtractOptions): Promise<Extracted> {
  const { assets, by, tool, toolCallId, namespace, concurrency = 256, signal } = options
  const { limits } = assets.config
  const nodes = findAssets(value, limits)
  const findings = nodes.flatMap((node) => [
    ...(node.own ? [node.own] : []),
    ...(node.leaves?.values() ?? []),
  ])
  if (findings.length === 0) return { value, created: [], errors: [] }
  checkSize(findings, limits.resultBytes)

  const created: AssetCreated[] = []
  const errors: AssetFailed[] = []
  const scoped = assets.scoped({
    namespace: namespace ?? undefined,
    by,
    tool,
    toolCallId,
    onEvent(event) {
      if (event.type === 'ASSET_CREATED') created.push(event.payload)
      else errors.push(event.payload)
    },
  })

  const saveBody: SaveBody = async ({ load, mime, name, origin }) => {
    try {
      const body = await load()
      const claim = mime !== null && parseMimeType(mime) ? mime : body.mime
      const about = { name: name ?? body.name, origin, owned: body.owned, signal }
      return { info: await scoped.save(body.input, claim, about) }
    } catch (error) {
      signal?.throwIfAborted()
      const { code, message } = failureOf(error)
      await scoped.reportError({ code, message, origin, ...(mime !== null && { mime }) })
      return { error: { code, message } }
    }
  }

  const results = new Map<Finding, unknown>()
  const places = (finding: Finding) => 1 + Math.floor(sizeOfFinding(finding) / BYTES_PER_PLACE)
  await inParallel(findings, { limit: concurrency, places }, async (finding) => {
    const save =
      finding.type === 'text' ? saveText(finding, saveBody) : saveValue(finding, saveBody)
    results.set(finding, await save)
  })
  return { value: replaceFindings(nodes, results), created, errors }
}

async function saveValue(finding: FoundValue, saveBody: SaveBody): Promise<unknown> {
  const { body, mime, name, rest, origin } = finding
  const { info, error } = await saveBody({ load: () => loadBody(body), mime, name, origin })
  if (info) return { assetRef: info.ref, mimeType: info.mime, kind: info.kind, ...rest }
  return { assetError: error, ...(mime !== null && { mimeType: mime }), ...rest }
}

async function saveText(finding: FoundText, saveBody: SaveBody): Promise<string> {
  const { text, urls, origin } = finding
  let result = ''
  let at = 0
  for (const url of urls) {
    const load = () => loadBody({ type: 'data-url', url })
    const { info, error } = await saveBody({ load, mime: url.mime, name: null, origin })
    result += text.slice(at, url.start)
    result += info ? `<|${info.ref}|>` : `[asset error: ${error.message}]`
    at = url.end
  }
  return result + text.slice(at)
}

function checkSize(findings: Finding[], limit: number): void {
  let total = 0
  for (const finding of findings) total += sizeOfFinding(finding)
  if (total <= limit) return
  throw new ByrefError(
    'result_too_large',
    `The result holds more than ${limit} bytes of assets (limits.resultBytes).`,
  )
}

function sizeOfFinding(finding: Finding): number {
  if (finding.type === 'value') return sizeOf(finding.body)
  return finding.urls.reduce((sum, url) => sum + url.data.length * 0.75, 0)
}

function failureOf(error: unknown): { code: string; message: string } {
  if (error instanceof ByrefError) return { code: error.code, message: error.message }
  return { code: 'storage_failed', message: `Saving failed: ${errorMessage(error)}` }
}
