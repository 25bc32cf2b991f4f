/** One line on a terminal that says how far long work has come; nothing where stderr is no terminal. */
export interface ProgressLine {
  /** Says it; a line that would be the same as before is not written again. */
  show(label: string, done: number, total: number): void
  /** Passes bytes through and shows how many of `total` they are. */
  counting(label: string, total: number): TransformStream<Uint8Array, Uint8Array>
  /** Takes the line away, for a line that stays or for the end. */
  clear(): void
}

/** A line that is empty until something is shown. */
export function progressLine(): ProgressLine {
  const { isTTY } = process.stderr
  let shown = ''

  function show(label: string, done: number, total: number): void {
    const line = `${label} ${total > 0 ? Math.floor((done / total) * 100) : 100}%`
    if (!isTTY || line === shown) return
    shown = line
    process.stderr.write(`\r\u001b[K${line}`)
  }

  return {
    show,
    counting(label, total) {
      let done = 0
      return new TransformStream({
        transform(chunk, controller) {
          done += chunk.length
          show(label, done, total)
          controller.enqueue(chunk)
        },
      })
    },
    clear() {
      if (shown) process.stderr.write('\r\u001b[K')
      shown = ''
    },
  }
}
