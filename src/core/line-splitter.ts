/**
 * Splits text that arrives in chunks into lines. Only a line feed ends a line: `node:readline` would also split at
 * U+2028, which JSON may contain. It takes linear time, however long a line is.
 */
export class LineSplitter {
  /** The parts of the line that has not ended. */
  #open: string[] = []
  #length = 0

  /** The number of characters of the line that has not ended. */
  get length(): number {
    return this.#length
  }

  /** Returns the lines that end in the next chunk, without their line feeds. */
  push(chunk: string): string[] {
    const lines = chunk.split('\n')
    const last = lines.pop() ?? ''
    if (lines.length > 0) lines[0] = this.end() + lines[0]
    this.#open.push(last)
    this.#length += last.length
    return lines
  }

  /** Returns the line that has not ended, and starts again. */
  end(): string {
    const line = this.#open.join('')
    this.#open = []
    this.#length = 0
    return line
  }
}
