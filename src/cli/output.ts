/** Writes a result to stdout: as JSON, or as text. */
export function print(json: boolean, value: unknown, text: string): void {
  process.stdout.write(`${json ? JSON.stringify(value) : text}\n`)
}

/** Writes a line for people to stderr. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`)
}
