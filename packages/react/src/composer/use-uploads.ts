import type { Attachment } from 'byref/client'
import { useSyncExternalStore } from 'react'
import { useServer } from '../app/server.ts'
import { errorText } from '../ui/error-text.ts'
import type { Upload } from './attached-files.ts'
import type { SuggestedAsset } from './suggestions.ts'

/**
 * Returns the files of the unsent message at a place ({@link useDraftPlace}), and functions to add, retry and remove
 * them, also during an upload. Uploads continue without the component.
 */
export function useUploads(place: string): {
  uploads: readonly Upload[]
  add: (files: Iterable<File>) => void
  /** Adds files that the server has already. */
  restore: (attachments: readonly Attachment[]) => void
  /** Adds an asset that the server has already, in place of those with these ids. */
  replace: (attachment: SuggestedAsset, ids: readonly string[]) => void
  retry: (key: number) => void
  remove: (key: number) => void
} {
  const { assetQuery, attachedFiles: files, client, queries } = useServer()
  const read = () => files.get(place)
  const uploads = useSyncExternalStore(files.subscribe, read, read)

  async function start(key: number, file: File, signal: AbortSignal): Promise<void> {
    try {
      const result = await client.upload(file, {
        signal,
        onProgress: (progress) => files.change(key, { progress }),
        onImport: ({ phase, bytes, size }) => {
          const share = size > 0 ? bytes / size : 0
          files.change(key, { imported: { share, isAgain: phase === 'writing' } })
        },
      })
      files.change(key, { status: 'done', result })
      void queries.prefetchQuery(
        assetQuery((result.workbook ?? result.table ?? result.asset).assetId),
      )
    } catch (error) {
      files.change(key, { status: 'failed', error: errorText(error) })
    }
  }

  async function find(key: number, ref: string, name: string): Promise<void> {
    try {
      const found = await queries.fetchQuery(assetQuery(ref))
      if (!found) throw new Error('The file was deleted.')
      const { asset } = found
      const file = { name: asset.name ?? name, size: asset.size }
      files.change(key, { status: 'done', result: { asset, table: null, workbook: null }, file })
    } catch (error) {
      files.change(key, { status: 'failed', error: errorText(error) })
    }
  }

  function take({ assetRef, fileName = 'File' }: SuggestedAsset): void {
    const file = { name: fileName, size: 0 }
    files.begin(place, file, 1, (key) => find(key, assetRef, fileName))
  }

  return {
    uploads,
    add(added) {
      for (const file of added) {
        files.begin(place, file, 0, (key, signal) => start(key, file, signal))
      }
    },
    restore(attachments) {
      for (const attachment of attachments) take(attachment)
    },
    replace(attachment, ids) {
      files.remove(
        place,
        ({ result }) => result !== undefined && ids.includes(result.asset.assetId),
      )
      take(attachment)
    },
    retry: (key) => files.retry(key),
    remove: (key) => files.remove(place, (one) => one.key === key),
  }
}
