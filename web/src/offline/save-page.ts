import { formatAssetRef, parseAssetRef } from 'byref/client'
import { client } from '../app/api.ts'
import { base64Of } from './base64.ts'
import { DATA_ID, LIMITS, type SavedAsset, type SavedPage } from './page.ts'

/** What a saved page has and lacks. */
export interface Saved {
  html: Blob
  /** What the file is called: as an export, by title and day. */
  name: string
  assets: number
  /** Assets whose bodies were too large, by name. */
  leftOut: readonly string[]
}

/** What {@link savePage} is told. */
export interface SaveOptions {
  /** With debug data, which may hold what was said between agent and provider; for owners. */
  debug: boolean
  signal: AbortSignal
  onProgress: (progress: { assets: number; of: number }) => void
}

/** Makes one HTML file of a conversation: it opens without a server and without a network, with its assets up to a size. */
export async function savePage(id: string, options: SaveOptions): Promise<Saved> {
  const { debug, signal, onProgress } = options
  const response = await client.exportConversation(id, { debug, signal })
  const lines = (await response.text()).split('\n').filter((line) => line !== '')
  const refs = refsIn(lines)
  const assets: SavedAsset[] = []
  const leftOut: string[] = []
  let bytes = 0
  for (const [place, ref] of refs.entries()) {
    signal.throwIfAborted()
    onProgress({ assets: place, of: refs.length })
    const saved = await saveAsset(ref, LIMITS.all - bytes, signal)
    if (!saved) continue
    if (saved.body !== null) bytes += saved.asset.size
    if (saved.body === null && !saved.rows) leftOut.push(saved.asset.name ?? saved.asset.assetId)
    assets.push(saved)
  }
  const page: SavedPage = {
    ...{ version: 1, id, savedAt: new Date().toISOString() },
    ...{ lines, debug, assets },
  }
  const name = nameOf(response.headers.get('content-disposition') ?? '')
  return { html: await htmlOf(page, signal), name, assets: assets.length, leftOut }
}

/** The name of the page, by that of the export. */
function nameOf(disposition: string): string {
  const [, encoded = 'conversation'] = /filename\*=UTF-8''([^;]+)/i.exec(disposition) ?? []
  return `${decodeURIComponent(encoded).replace(/\.jsonl$/, '')}.html`
}

/** The assets that the lines name, each once. Text goes on right behind a reference, as in `![rain](asset://a1).` */
function refsIn(lines: readonly string[]): readonly string[] {
  const refs = lines.flatMap((line) =>
    [...line.matchAll(/asset:\/\/[^\s"'`\\|<>#?(){}[\],;*]+/gi)].flatMap(([text]) => {
      const parts = parseAssetRef(text.replace(/[.:!]+$/, ''))
      return parts ? formatAssetRef({ id: parts.id, namespace: parts.namespace }) : []
    }),
  )
  return [...new Set(refs)]
}

/** An asset with its body, as far as there is room; null for one that is not there (any more). */
async function saveAsset(
  ref: string,
  room: number,
  signal: AbortSignal,
): Promise<SavedAsset | null> {
  const details = await client.asset(ref)
  if (!details) return null
  const { asset, meta } = details
  if (asset.table) {
    const { rows, columns } = await client.rows(ref, { limit: LIMITS.rows, signal })
    return { asset, meta, body: null, rows, columns }
  }
  if (asset.size > LIMITS.each || asset.size > room) return { asset, meta, body: null }
  const body = await (await client.assetContent(ref, { signal })).blob()
  return { asset, meta, body: await base64Of(body) }
}

/** The page of the app that needs no server, with the conversation in it. */
async function htmlOf(page: SavedPage, signal: AbortSignal): Promise<Blob> {
  const response = await fetch('/offline.html', { signal })
  const template = await response.text()
  const [before, after] = template.split(`id="${DATA_ID}">`)
  if (!response.ok || before === undefined || after === undefined) {
    throw new Error('This server has no page to save conversations with.')
  }
  // No text of it can end the element that it stands in.
  const data = JSON.stringify(page).replaceAll('<', '\\u003c')
  return new Blob([before, `id="${DATA_ID}">`, data, after], { type: 'text/html' })
}
