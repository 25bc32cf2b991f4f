import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { errorMessage } from '../core/errors.ts'
import { UsageError } from './usage-error.ts'

/** Parses a command's arguments by node:util's rules; what does not fit is a {@link UsageError}. */
export function parseOptions<T extends ParseArgsOptionsConfig>(
  command: string,
  args: string[],
  options: T,
): ReturnType<typeof parseArgs<{ args: string[]; options: T; allowPositionals: true }>> {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(`${errorMessage(error)} (byref ${command} --help)`)
  }
}
