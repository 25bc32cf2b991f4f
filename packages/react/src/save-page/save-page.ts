import { ApiError, type Client, formatAssetRef, parseAssetRef } from 'byref/client'
import type { Server } from '../app/server.ts'
import { base64Of } from './base64.ts'
import { DATA_ID, LIMITS, type SavedAsset, type SavedPage } from './page.ts'
import { saveDiagrams } from './save-diagrams.ts'

/** The content of a saved page, and what was left out. */
export interface Saved {
  html: Blob
  /** The name of the file: that of an export, with title and day. */
  name: string
  assets: number
  /** The names of assets whose bodies were too large. */
  leftOut: readonly string[]
  /** Number of assets that the person may not read. */
  withheld: number
}

/** Options of {@link savePage}. */
export interface SaveOptions {
  /** With debug data, which contain the requests and responses of the model provider. Only for owners. */
  debug: boolean
  signal: AbortSignal
  onProgress: (progress: { assets: number; of: number }) => void
}

/**
 * Creates one HTML file of a conversation. It opens without a server and without a network, and contains the assets up
 * to a size.
 */
export async function savePage(server: Server, id: string, options: SaveOptions): Promise<Saved> {
  const { debug, signal, onProgress } = options
  const { client } = server
  const response = await client.exportConversation(id, { debug, signal })
  const lines = (await response.text()).split('\n').filter((line) => line !== '')
  const refs = refsIn(lines)
  const assets: SavedAsset[] = []
  const leftOut: string[] = []
  let bytes = 0
  let withheld = 0
  for (const [place, ref] of refs.entries()) {
    signal.throwIfAborted()
    onProgress({ assets: place, of: refs.length })
    const saved = await saveAsset(client, ref, LIMITS.all - bytes, signal).catch(ifForbidden)
    if (saved === 'forbidden') withheld += 1
    if (saved === null || saved === 'forbidden') continue
    if (saved.body !== null) bytes += saved.asset.size
    if (saved.body === null && !saved.rows) leftOut.push(saved.asset.name ?? saved.asset.assetId)
    assets.push(saved)
  }
  const page: SavedPage = {
    version: 1,
    id,
    savedAt: new Date().toISOString(),
    lines,
    debug,
    assets,
    diagrams: await saveDiagrams(lines, signal),
  }
  const name = nameOf(response.headers.get('content-disposition') ?? '')
  const html = await htmlOf(server, page, signal)
  return { html, name, assets: assets.length, leftOut, withheld }
}

/** Returns the name of the page, from that of the export. */
function nameOf(disposition: string): string {
  const [, encoded = 'conversation'] = /filename\*=UTF-8''([^;]+)/i.exec(disposition) ?? []
  return `${decodeURIComponent(encoded).replace(/\.jsonl$/, '')}.html`
}

/**
 * Returns the assets that the lines name, each once. Text may follow a reference directly, as in `![rain](asset://a1).`
 */
function refsIn(lines: readonly string[]): readonly string[] {
  const refs = lines.flatMap((line) =>
    [...line.matchAll(/asset:\/\/[^\s"'`\\|<>#?(){}[\],;*]+/gi)].flatMap(([text]) => {
      const parts = parseAssetRef(text.replace(/[.:!]+$/, ''))
      return parts ? formatAssetRef({ id: parts.id, namespace: parts.namespace }) : []
    }),
  )
  return [...new Set(refs)]
}

function ifForbidden(error: unknown): 'forbidden' {
  if (error instanceof ApiError && error.code === 'forbidden') return error.code
  throw error
}

/** Returns an asset with its body, if there is room for it. Null if the asset does not exist any more. */
async function saveAsset(
  client: Client,
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

/** Returns the page of the app that needs no server, with the conversation in it. */
async function htmlOf({ loadFile }: Server, page: SavedPage, signal: AbortSignal): Promise<Blob> {
  const template = await (await loadFile('offline.html', signal)).text()
  const [before, after] = template.split(`id="${DATA_ID}">`)
  if (before === undefined || after === undefined) {
    throw new Error('This server does not include the page for saved conversations.')
  }
  // Escaped, so that no text in it can end its element.
  const data = JSON.stringify(page).replaceAll('<', '\\u003c')
  return new Blob([before, `id="${DATA_ID}">`, data, after], { type: 'text/html' })
}
