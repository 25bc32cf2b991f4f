import { bytesOf, DATA_ID, type SavedPage } from '@byref/react/saved-page'
import { createClient, parseAssetRef } from 'byref/client'
import { offlineFetch } from './offline-fetch.ts'

/** The data that are saved in this page. */
export const page = JSON.parse(document.getElementById(DATA_ID)?.textContent ?? '') as SavedPage

const bodies = new Map(page.assets.map(({ asset, body }) => [asset.assetId, { asset, body }]))
const urls = new Map<string, string>()

/** A client without a server. It answers from the data saved with the page. */
export const client = {
  ...createClient({ fetch: offlineFetch(page) }),
  /** Returns the URL of a body in the browser's memory. */
  assetUrl(ref: string): string {
    const id = parseAssetRef(ref)?.id ?? ref
    const saved = bodies.get(id)
    if (!saved || saved.body === null) return 'about:blank'
    const known = urls.get(id)
    if (known) return known
    const url = URL.createObjectURL(new Blob([bytesOf(saved.body)], { type: saved.asset.mime }))
    urls.set(id, url)
    return url
  },
}
