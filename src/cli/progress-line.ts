/** One line on a terminal that says how far a stream has come; nothing where stderr is no terminal. */
export interface ProgressLine {
  /** Passes bytes through and counts them. */
  count: TransformStream<Uint8Array, Uint8Array>
  /** Takes the line away. */
  clear(): void
}

/** Makes the line; `total` is in bytes. */
export function progressLine(label: string, total: number): ProgressLine {
  const { isTTY } = process.stderr
  let done = 0
  let shown = -1
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      done += chunk.length
      controller.enqueue(chunk)
      const percent = total > 0 ? Math.floor((done / total) * 100) : 100
      if (!isTTY || percent === shown) return
      shown = percent
      process.stderr.write(`\r${label} ${percent}%`)
    },
  })
  return {
    count,
    clear() {
      if (shown >= 0) process.stderr.write('\r\u001b[K')
    },
  }
}
