import type { AssetStore } from './asset-store.ts'
import { readBytes } from './body.ts'
import type { S3Connector } from './s3-connector.ts'

/** A store as somebody writes it in ten lines. */
export function threeMethods(): AssetStore {
  const bodies = new Map<string, { bytes: Uint8Array; mime: string }>()
  return {
    async save(bytes, mime) {
      const assetId = `id${bodies.size}`
      bodies.set(assetId, { bytes: bytes.slice(), mime })
      return { assetId }
    },
    async get(assetId) {
      const found = bodies.get(assetId)
      if (!found) throw new Error('no such thing')
      return { bytes: found.bytes.slice(), mime: found.mime }
    },
    async urlFor(assetId) {
      return `https://example.com/${assetId}`
    },
  }
}

/** A bucket in memory, as a server keeps it. */
export function memoryConnector(): S3Connector & { objects: Map<string, Uint8Array> } {
  const objects = new Map<string, Uint8Array>()
  const times = new Map<string, number>()
  const write = (key: string, bytes: Uint8Array) => {
    objects.set(key, bytes)
    times.set(key, Date.now())
  }
  return {
    objects,
    async check() {},
    async put({ key, body, ifAbsent }) {
      if (ifAbsent && objects.has(key)) return false
      write(key, body.slice())
      return true
    },
    async putStream({ key, body }) {
      write(key, await readBytes(body))
    },
    async get({ key, start = 0, end }) {
      const bytes = objects.get(key)
      return bytes ? new Blob([bytes.slice(start, end)]).stream() : null
    },
    async head({ key }) {
      const bytes = objects.get(key)
      return bytes ? { size: bytes.byteLength, modifiedAt: times.get(key) ?? 0 } : null
    },
    async copy({ key, to }) {
      const bytes = objects.get(key)
      if (bytes) write(to, bytes)
      return bytes !== undefined
    },
    async delete({ key }) {
      objects.delete(key)
    },
    async list({ prefix, after = '', limit = 1000 }) {
      const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
      const page = keys.slice(0, limit).map((key) => ({
        key,
        size: objects.get(key)?.byteLength ?? 0,
        modifiedAt: times.get(key) ?? 0,
      }))
      return { objects: page, more: keys.length > limit }
    },
    async signedUrl({ key }) {
      return `https://example.com/${key}?signed`
    },
  }
}
