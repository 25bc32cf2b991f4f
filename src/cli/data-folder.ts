import { randomBytes } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { ByrefError, errorMessage } from '../core/errors.ts'

/** The default of `--data`. */
export const DEFAULT_DATA = 'data'

/**
 * Returns the path of the data folder.
 *
 * @param make Creates the folder if it is missing; otherwise it must exist.
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
  if (existsSync(folder) && !statSync(folder).isDirectory()) {
    throw new ByrefError(
      'config_invalid',
      `The data folder ${folder} cannot be used, because it is a file: name a folder with --data`,
    )
  }
  try {
    if (make) mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.R_OK | constants.X_OK | (make ? constants.W_OK : 0))
  } catch (cause) {
    throw new ByrefError(
      'config_invalid',
      `The data folder ${folder} cannot be used (${errorMessage(cause)}): choose another with --data, or fix its permissions`,
      { cause },
    )
  }
  return folder
}

/** Whether {@link signingSecret} would return a secret that exists. */
export function hasSecret(folder: string): boolean {
  return Boolean(process.env.BYREF_SECRET) || existsSync(join(folder, 'secret'))
}

/**
 * Returns the secret that signs tokens: `BYREF_SECRET`, else that of the data folder. The first use creates it, and
 * only its owner may read it.
 *
 * @throws ByrefError `config_invalid` for an empty file, which a crash or a full disk leaves
 */
export function signingSecret(folder: string): string {
  const given = process.env.BYREF_SECRET
  if (given) return given
  const path = join(folder, 'secret')
  try {
    writeFileSync(path, `${randomBytes(32).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const secret = readFileSync(path, 'utf8').trim()
  if (secret !== '') return secret
  throw new ByrefError(
    'config_invalid',
    `The file ${path} is empty: delete it, and the next start makes a new secret`,
  )
}
