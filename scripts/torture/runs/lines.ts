import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

/** Appends a value to a file of JSON lines. It is on the disk when this returns. Other processes can append, too. */
export function addLine(path: string, value: unknown): void {
  const file = openSync(path, 'a')
  writeSync(file, `${JSON.stringify(value)}\n`)
  fsyncSync(file)
  closeSync(file)
}

/** Returns the values of such a file; none if it does not exist. */
export function linesOf(path: string): unknown[] {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  // A process that was killed in the middle of a line has not added it.
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}
