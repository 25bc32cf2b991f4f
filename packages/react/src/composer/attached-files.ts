import type { Attachment, UploadResult } from 'byref/client'
import { Listeners } from '../ui/listeners.ts'

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
  /** Attaches the file, also once more after a failure. It never rejects. */
  attempt: (key: number, signal: AbortSignal) => Promise<void>
}

/** Returns the attachments of a message with these files: the table of a file if there is one. */
export function attachmentsOf(uploads: readonly Upload[]): Pick<Attachment, 'assetRef'>[] {
  return uploads.flatMap(({ result }) =>
    result ? [{ assetRef: (result.workbook ?? result.table ?? result.asset).ref }] : [],
  )
}

const NONE: readonly Upload[] = []

let lastKey = 0

/**
 * The files of unsent messages, by the place of their text ({@link useDraftPlace}). They are kept while another
 * conversation is shown, and uploads continue.
 */
export class AttachedFiles {
  readonly #places = new Map<string, readonly Upload[]>()
  readonly #running = new Map<number, AbortController>()
  readonly #listeners = new Listeners()
  readonly subscribe = this.#listeners.subscribe

  get(place: string): readonly Upload[] {
    return this.#places.get(place) ?? NONE
  }

  get isUploading(): boolean {
    return this.#running.size > 0
  }

  isUploadingAt(place: string): boolean {
    return this.get(place).some(({ status }) => status === 'sending')
  }

  /** Resolves when no file at a place is being uploaded. */
  uploadedAt(place: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const check = () => {
      if (!this.isUploadingAt(place)) resolve()
    }
    check()
    return promise.finally(this.subscribe(check))
  }

  /** Adds a file, and makes the first attempt to attach it. */
  begin(place: string, file: Upload['file'], progress: number, attempt: Upload['attempt']): void {
    lastKey += 1
    const upload = { key: lastKey, file, status: 'sending', progress, attempt } as const
    this.#set(place, [...this.get(place), upload])
    this.#attempt(upload)
  }

  /** Attaches a file once more after a failure. */
  retry(key: number): void {
    const upload = [...this.#places.values()].flat().find((one) => one.key === key)
    if (!upload) return
    this.change(key, { status: 'sending', imported: undefined, error: undefined })
    this.#attempt(upload)
  }

  /** Changes a file, wherever it is now. */
  change(key: number, part: Partial<Upload>): void {
    for (const [place, all] of this.#places) {
      if (!all.some((one) => one.key === key)) continue
      this.#set(
        place,
        all.map((one) => (one.key === key ? { ...one, ...part } : one)),
      )
    }
  }

  /** Removes files. Their uploads end. */
  remove(place: string, isRemoved: (upload: Upload) => boolean): void {
    const all = this.get(place)
    for (const { key } of all.filter(isRemoved)) this.#running.get(key)?.abort()
    this.#set(
      place,
      all.filter((one) => !isRemoved(one)),
    )
  }

  /** Moves the files of one place to another. */
  move(from: string, to: string): void {
    if (from === to) return
    this.#set(to, [...this.get(to), ...this.get(from)])
    this.#set(from, NONE)
  }

  /** Removes all files. */
  clear(): void {
    for (const place of [...this.#places.keys()]) this.remove(place, () => true)
  }

  #set(place: string, uploads: readonly Upload[]): void {
    if (uploads.length === 0) this.#places.delete(place)
    else this.#places.set(place, uploads)
    this.#listeners.tell()
  }

  #attempt({ key, attempt }: Upload): void {
    const controller = new AbortController()
    this.#running.set(key, controller)
    void attempt(key, controller.signal).finally(() => this.#running.delete(key))
  }
}
