import { meterStream } from '../bodies/body.ts'
import { writeBehind } from '../bodies/write-behind.ts'
import { hasDuckdb, WORTH_BYTES } from './has-duckdb.ts'
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
  let isKept = true
  let isKnown = false

  async function write(block: Uint8Array): Promise<void> {
    if (!isKept) return
    try {
      await spool.append(block)
      if (isKnown || spool.size < WORTH_BYTES) return
      isKnown = true
      if (!hasDuckdb()) await forget()
    } catch {
      // The file is saved all the same.
      await forget()
    }
  }

  async function forget(): Promise<void> {
    isKept = false
    await spool.dispose()
  }

  // The reader waits for one disk at a time.
  const blocks = writeBehind(AT_ONCE, write)
  const { stream } = meterStream(source, {
    signal,
    onChunk: (chunk) => (isKept ? blocks.add(chunk) : undefined),
  })
  return {
    stream,
    async take() {
      await blocks.end()
      if (isKept && !isKnown) await forget()
      return isKept ? spool : null
    },
  }
}
