import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The secret that signs tokens: `BYREF_SECRET`, else that of the data folder, which is made with the first use and which only
 * its owner reads.
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
  return readFileSync(path, 'utf8').trim()
}
