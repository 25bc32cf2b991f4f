import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

/** Adds a value to a file of lines of JSON: it is on the disk when this returns, and other processes may add too. */
export function addLine(path: string, value: unknown): void {
  const file = openSync(path, 'a')
  writeSync(file, `${JSON.stringify(value)}\n`)
  fsyncSync(file)
  closeSync(file)
}

/** The values of such a file; none where it is not there. */
export function linesOf(path: string): unknown[] {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  // Whoever was killed in the middle of a line has not added it.
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}
