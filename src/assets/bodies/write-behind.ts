/** Takes chunks and writes them in blocks. */
export interface BlockWriter {
  /** Takes a chunk, which the caller may use again; waits where the block before is still being written. */
  add(chunk: Uint8Array): Promise<void>
  /** Writes what is left; rejects with what any write failed with. */
  end(): Promise<void>
  /** Resolves when nothing is being written, however that ended. */
  settled(): Promise<void>
}

/** Writes blocks of so many bytes, each while the next one is being filled. Whoever writes a block must not keep it. */
export function writeBehind(
  size: number,
  write: (block: Uint8Array) => Promise<void>,
): BlockWriter {
  let block = Buffer.allocUnsafe(size)
  let spare: typeof block | null = null
  let filled = 0
  let writing = Promise.resolve()

  async function flush(): Promise<void> {
    await writing
    const full = block
    writing = write(full.subarray(0, filled))
    // It is waited for with the next block.
    writing.catch(() => {})
    block = spare ?? Buffer.allocUnsafe(size)
    spare = full
    filled = 0
  }

  return {
    async add(chunk) {
      for (let at = 0; at < chunk.byteLength; ) {
        const part = chunk.subarray(at, at + size - filled)
        block.set(part, filled)
        filled += part.byteLength
        at += part.byteLength
        if (filled === size) await flush()
      }
    },
    async end() {
      if (filled > 0) await flush()
      await writing
    },
    async settled() {
      await writing.catch(() => {})
    },
  }
}
