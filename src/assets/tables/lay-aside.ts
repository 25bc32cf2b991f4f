import { copyBytes, meterStream } from '../bodies/body.ts'
import { loadDuckdb, WORTH_BYTES } from './duckdb.ts'
import { createSpool, type Spool } from './spool.ts'

/** A stream whose bytes are laid aside as they pass by, so that DuckDB need not read them from the store again. */
export interface LaidAside {
  stream: ReadableStream<Uint8Array>
  /** All that has passed by, once, to be disposed of; null where it is nothing for DuckDB, or there was no room. */
  take(): Promise<Spool | null>
}

const AT_ONCE = 1024 * 1024

/** Lays a stream's bytes aside while somebody else reads it. */
export function layAside(source: ReadableStream<Uint8Array>, signal?: AbortSignal): LaidAside {
  const spool = createSpool()
  let chunks: Uint8Array[] = []
  let held = 0
  let isKept = true
  let isKnown = false
  // One write behind, so that the reader waits for one disk at a time.
  let writing = Promise.resolve()

  async function write(): Promise<void> {
    const bytes = Buffer.concat(chunks)
    chunks = []
    held = 0
    try {
      await spool.append(bytes)
      if (isKnown || spool.size < WORTH_BYTES) return
      isKnown = true
      if ((await loadDuckdb()) === null) await forget()
    } catch {
      // The file is saved all the same.
      await forget()
    }
  }

  async function forget(): Promise<void> {
    isKept = false
    chunks = []
    await spool.dispose()
  }

  const { stream } = meterStream(source, {
    signal,
    async onChunk(chunk) {
      if (!isKept) return
      chunks.push(copyBytes(chunk))
      held += chunk.byteLength
      if (held < AT_ONCE) return
      await writing
      writing = write()
    },
  })
  return {
    stream,
    async take() {
      await writing
      if (isKept && isKnown) await write()
      else if (isKept) await forget()
      return isKept ? spool : null
    },
  }
}
