import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { ByrefError, errorMessage } from '../core/errors.ts'

/** Where `serve`, `run` and `assets` keep everything unless told otherwise. */
export const DEFAULT_DATA = 'data'

/**
 * The data folder, made if it is not there; or, unless it is to be made, one that is there and can be read.
 *
 * @throws ByrefError `config_invalid`
 */
export function openFolder(data: string, { make = true } = {}): string {
  const folder = resolve(data)
  if (!make && !existsSync(folder)) {
    throw new ByrefError(
      'config_invalid',
      `There is no data folder ${folder}: name another with --data`,
    )
  }
  try {
    if (make) mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.R_OK | constants.X_OK | (make ? constants.W_OK : 0))
  } catch (cause) {
    throw new ByrefError(
      'config_invalid',
      `The data folder ${folder} cannot be used (${errorMessage(cause)}): choose another with --data, or mend its permissions`,
      { cause },
    )
  }
  return folder
}
