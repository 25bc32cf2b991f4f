import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { didYouMean } from '../core/check-options.ts'
import { errorMessage } from '../core/errors.ts'

/** A wrong command line. The message says how to write it. Ends the program with status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * Parses the arguments of a command by the rules of node:util.
 *
 * @param most Maximum number of arguments in addition to the options; default: any number.
 * @throws UsageError
 */
export function parseOptions<T extends ParseArgsOptionsConfig>(
  command: string,
  args: string[],
  { options, most = Infinity }: { options: T; most?: number },
): ReturnType<typeof parseArgs<{ args: string[]; options: T; allowPositionals: true }>> {
  let parsed: ReturnType<typeof parseArgs<{ args: string[]; options: T; allowPositionals: true }>>
  try {
    parsed = parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    const message = unknownOption(error, Object.keys(options)) ?? errorMessage(error)
    throw new UsageError(`${message} (byref ${command} --help)`)
  }
  for (const [option, value] of Object.entries(parsed.values)) {
    // A variable of a shell that is not set.
    if (value === '')
      throw new UsageError(`--${option} must not be empty (byref ${command} --help)`)
  }
  const extra = parsed.positionals[most]
  if (extra === undefined) return parsed
  throw new UsageError(`Unexpected argument "${extra}" (byref ${command} --help)`)
}

/** Returns the message for an unknown option, with the option that was probably meant; null for other errors. */
function unknownOption(error: unknown, names: readonly string[]): string | null {
  const { code } = Object(error) as { code?: unknown }
  const [, option] = /^Unknown option '(.+?)'/.exec(errorMessage(error)) ?? []
  if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' || option === undefined) return null
  const options = names.map((name) => `--${name}`)
  return `Unknown option "${option}".${didYouMean(option, options)}`
}

/** Returns the subcommand with this name. Without a name it prints the help and gives null. @throws UsageError */
export function chooseTask<Task>(
  command: string,
  help: string,
  tasks: Readonly<Record<string, Task>>,
  name: string | undefined,
): Task | null {
  if (name === undefined) {
    process.stdout.write(help)
    return null
  }
  const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined
  if (task !== undefined) return task
  throw new UsageError(
    `There is no byref ${command} ${name}.${didYouMean(name, Object.keys(tasks))} Valid: ${Object.keys(tasks).join(', ')} (byref ${command} --help)`,
  )
}

/** Checks that the options that were given belong to a subcommand. @throws UsageError */
export function checkTaskOptions(
  command: string,
  task: string | undefined,
  { values, taskOf }: { values: object; taskOf: Readonly<Record<string, string>> },
): void {
  for (const [option, own] of Object.entries(taskOf)) {
    if (own === task || (values as Record<string, unknown>)[option] === undefined) continue
    throw new UsageError(
      `--${option} goes with byref ${command} ${own}, not with ${task} (byref ${command} --help)`,
    )
  }
}

/** Returns the value of an option, such as `--limit of byref assets`, that is a whole number. @throws UsageError */
export function wholeNumber(
  option: string,
  text: string,
  { least = 0, most = Number.MAX_SAFE_INTEGER }: { least?: number; most?: number } = {},
): number {
  if (/^\d+$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
  const range = most === Number.MAX_SAFE_INTEGER ? '' : ` from ${least} to ${most}`
  throw new UsageError(`${option} takes a whole number${range}, not "${text}"`)
}

/** Counts what an iterable yields. */
export async function countOf(items: AsyncIterable<unknown>): Promise<number> {
  let count = 0
  for await (const _ of items) count++
  return count
}

/** Returns the value of an option that takes one of a few words. @throws UsageError */
export function oneOf<Word extends string>(
  option: string,
  text: string,
  words: readonly Word[],
): Word {
  const word = words.find((one) => one === text)
  if (word !== undefined) return word
  const list = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(words)
  throw new UsageError(`${option} takes ${list}, not "${text}"`)
}

/** Checks, before long work, that its result can be written to a file. @throws UsageError */
export async function checkWritable(file: string): Promise<void> {
  await access(dirname(resolve(file)), constants.W_OK).catch(() => {
    throw new UsageError(`Cannot write ${file}: its folder does not exist, or is not writable`)
  })
  const existing = await stat(file).catch(() => null)
  if (existing?.isDirectory()) throw new UsageError(`Cannot write ${file}: it is a folder`)
}

/** Writes a result to stdout: as JSON, or as text. */
export function print(json: boolean, value: unknown, text: string): void {
  process.stdout.write(`${json ? JSON.stringify(value) : text}\n`)
}

/** Returns a number with its noun, such as `1 message` or `2 messages`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Writes a line for people to stderr. It may contain text from outside. */
export function note(line: string): void {
  process.stderr.write(`${shown(line)}\n`)
}

/** Writes an error to stderr, as a line that begins with the name of the program. */
export function noteError(message: string): void {
  note(message.startsWith('byref ') ? message : `byref: ${message}`)
}

/** Control characters, and characters that change the order of text; but not line ends, tabs and joiners of letters. */
const UNSAFE = /(?![\n\t\u200c\u200d]|\r\n)[\p{C}\u2028\u2029]/gu

/**
 * Returns text from outside for a terminal. Characters that a terminal would obey or hide are escaped, as in `\u{1b}`,
 * so that nothing looks like something else.
 */
export function shown(text: string): string {
  return text.replace(UNSAFE, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)
}

/** Shows the progress of long work on one line of a terminal. It does nothing where stderr is not a terminal. */
export class ProgressLine {
  #shown = ''

  show(text: string, done: number, total: number): void {
    const line = `${shown(text)} ${total > 0 ? Math.floor((done / total) * 100) : 100}%`
    if (!process.stderr.isTTY || line === this.#shown) return
    this.#shown = line
    process.stderr.write(`\r\u001b[K${line}`)
  }

  /** Passes bytes through, and shows how many of `total` have passed. */
  counting(text: string, total: number): TransformStream<Uint8Array, Uint8Array> {
    let done = 0
    return new TransformStream({
      transform: (chunk, controller) => {
        done += chunk.length
        this.show(text, done, total)
        controller.enqueue(chunk)
      },
    })
  }

  /** Removes the line. */
  clear(): void {
    if (this.#shown) process.stderr.write('\r\u001b[K')
    this.#shown = ''
  }
}
