import { meterStream } from '../bodies/body.ts'
import { loadDuckdb, WORTH_BYTES } from './duckdb.ts'
import { createSpool, type Spool } from './spool.ts'

/** A stream whose bytes are laid aside as they pass by, so that DuckDB need not read them from the store again. */
export interface LaidAside {
  stream: ReadableStream<Uint8Array>
  /** All that has passed by, once, to be disposed of; null where it is nothing for DuckDB. */
  take(): Promise<Spool | null>
}

const AT_ONCE = 1024 * 1024

/** Lays a stream's bytes aside while somebody else reads it. */
export function layAside(source: ReadableStream<Uint8Array>, signal?: AbortSignal): LaidAside {
  const spool = createSpool()
  let isWorth: boolean | null = null
  let failure: unknown
  // One write behind, so that the reader waits for one disk at a time.
  let writing = Promise.resolve()

  let chunks: Uint8Array[] = []
  let held = 0

  async function write(): Promise<void> {
    const bytes = Buffer.concat(chunks)
    chunks = []
    held = 0
    await spool.append(bytes)
  }

  async function keep(chunk: Uint8Array): Promise<void> {
    if (isWorth === false) return
    held += chunk.byteLength
    chunks.push(chunk)
    if (held < AT_ONCE) return
    await write()
    if (isWorth !== null || spool.size < WORTH_BYTES) return
    isWorth = (await loadDuckdb()) !== null
    if (!isWorth) await spool.dispose()
  }

  const { stream } = meterStream(source, {
    signal,
    async onChunk(chunk) {
      await writing
      if (failure) throw failure
      writing = keep(chunk).catch((error: unknown) => {
        failure = error
      })
    },
  })
  return {
    stream,
    async take() {
      await writing
      if (isWorth && !failure) {
        await write()
        return spool
      }
      await spool.dispose()
      return null
    },
  }
}
