import type { Attachment, UploadResult } from 'byref/client'
import { useEffect, useRef, useState } from 'react'
import { type Server, useServer } from '../app/server.ts'
import { errorText } from '../ui/error-text.ts'
import type { SuggestedAsset } from './suggestions.ts'

/** A file that is being uploaded, or is complete. */
export interface Upload {
  key: number
  file: Pick<File, 'name' | 'size'>
  status: 'sending' | 'done' | 'failed'
  /** The share that was sent, from 0 to 1. */
  progress: number
  /**
   * The part that the server has converted to a table, from 0 to 1. `isAgain`: it reads the file a second time, because
   * later rows have other types than the first. Absent if the server reports nothing.
   */
  imported?: { share: number; isAgain: boolean }
  result?: UploadResult
  error?: { code?: string; message: string }
  /** Attaches the file, also once more after a failure. */
  attempt: () => Promise<void>
}

let lastKey = 0

/** The attached files of unsent messages, by conversation. */
const attached = new WeakMap<object, Map<string, Upload[]>>()

/**
 * Returns the attached files of unsent messages on a server, by conversation. They are kept while another conversation
 * is shown.
 */
export function attachedFiles({ queries }: Pick<Server, 'queries'>): Map<string, Upload[]> {
  const known = attached.get(queries) ?? new Map<string, Upload[]>()
  attached.set(queries, known)
  return known
}

/** Returns the files of the unsent message, and functions to add, retry and remove them, also during an upload. */
export function useUploads(conversation: string | null): {
  uploads: Upload[]
  add: (files: Iterable<File>) => void
  /** Adds files that the server has already. */
  restore: (attachments: readonly Attachment[]) => void
  /** Adds an asset that the server has already, in place of those with these ids. */
  replace: (attachment: SuggestedAsset, ids: readonly string[]) => void
  retry: (key: number) => void
  remove: (key: number) => void
  /**
   * Removes the files that were sent with a message. Failed files stay, and so do later ones. If the message created a
   * conversation, later files that are uploaded move to it.
   */
  clearSent: (sent: readonly Upload[], conversation: string) => void
} {
  const server = useServer()
  const { assetQuery, client, queries } = server
  const kept = attachedFiles(server)
  const place = conversation ?? ''
  const [uploads, setUploads] = useState<Upload[]>(() => kept.get(place) ?? [])
  useEffect(() => {
    kept.set(place, uploads.filter(isAttached))
  }, [kept, place, uploads])
  const controllers = useRef(new Map<number, AbortController>())
  useEffect(() => {
    const open = controllers.current
    return () => {
      for (const controller of open.values()) controller.abort()
    }
  }, [])

  function change(key: number, part: Partial<Upload>): void {
    setUploads((all) => all.map((upload) => (upload.key === key ? { ...upload, ...part } : upload)))
  }

  /** Adds a file, and makes the first attempt to attach it. */
  function begin(file: Upload['file'], progress: number, attempt: (key: number) => Promise<void>) {
    lastKey += 1
    const key = lastKey
    const upload = { key, file, status: 'sending', progress, attempt: () => attempt(key) } as const
    setUploads((all) => [...all, upload])
    void upload.attempt()
  }

  async function start(key: number, file: File): Promise<void> {
    const controller = new AbortController()
    controllers.current.set(key, controller)
    try {
      const result = await client.upload(file, {
        signal: controller.signal,
        onProgress: (progress) => change(key, { progress }),
        onImport: ({ phase, bytes, size }) => {
          const share = size > 0 ? bytes / size : 0
          change(key, { imported: { share, isAgain: phase === 'writing' } })
        },
      })
      change(key, { status: 'done', result })
      void queries.prefetchQuery(
        assetQuery((result.workbook ?? result.table ?? result.asset).assetId),
      )
    } catch (error) {
      if (!controller.signal.aborted) change(key, { status: 'failed', error: errorText(error) })
    } finally {
      controllers.current.delete(key)
    }
  }

  async function find(key: number, ref: string, name: string): Promise<void> {
    try {
      const found = await queries.fetchQuery(assetQuery(ref))
      if (!found) throw new Error('The file was deleted.')
      const { asset } = found
      const file = { name: asset.name ?? name, size: asset.size }
      change(key, { status: 'done', result: { asset, table: null, workbook: null }, file })
    } catch (error) {
      change(key, { status: 'failed', error: errorText(error) })
    }
  }

  function take({ assetRef, fileName = 'File' }: SuggestedAsset): void {
    begin({ name: fileName, size: 0 }, 1, (key) => find(key, assetRef, fileName))
  }

  return {
    uploads,
    add(files) {
      for (const file of files) begin(file, 0, (key) => start(key, file))
    },
    restore(attachments) {
      for (const attachment of attachments) take(attachment)
    },
    replace(attachment, ids) {
      const isReplaced = ({ result }: Upload) =>
        result !== undefined && ids.includes(result.asset.assetId)
      setUploads((all) => all.filter((upload) => !isReplaced(upload)))
      take(attachment)
    },
    retry(key) {
      change(key, { status: 'sending', imported: undefined, error: undefined })
      void uploads.find((one) => one.key === key)?.attempt()
    },
    remove(key) {
      controllers.current.get(key)?.abort()
      setUploads((all) => all.filter((upload) => upload.key !== key))
    },
    clearSent(sent, into) {
      const rest = kept.get(place)?.filter((one) => !sent.includes(one)) ?? []
      kept.delete(place)
      kept.set(into, rest)
      const stays = (one: Upload) => into === place && !sent.includes(one)
      setUploads((all) => all.filter((one) => !isAttached(one) || stays(one)))
    },
  }
}

function isAttached({ status }: Upload): boolean {
  return status === 'done'
}
