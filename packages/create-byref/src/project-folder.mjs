import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import validateName from 'validate-npm-package-name'
import { UsageError } from './usage-error.mjs'

/** Names that a new project's folder may already contain. */
const HARMLESS = new Set(['.git', '.DS_Store', 'Thumbs.db'])

/**
 * The name of the package in a folder: that of the folder.
 *
 * @param {string} folder absolute
 * @throws {UsageError} if npm accepts no package of this name
 */
export function packageName(folder) {
  const name = basename(folder)
  const { validForNewPackages, errors = [], warnings = [] } = validateName(name)
  if (validForNewPackages) return name
  const likely = name
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
  const other = likely && likely !== name && validateName(likely).validForNewPackages
  throw new UsageError(
    `"${name}" cannot be the name of a package: ${[...errors, ...warnings].join(', ')}. ${other ? `Try "${likely}"` : 'Choose another folder'}.`,
  )
}

/**
 * The folder of a new project, which takes back what was done in it.
 */
export class ProjectFolder {
  /** @type {readonly string[]} */
  #before
  /** @type {string | null} The outermost folder that was created. */
  #created = null

  /**
   * @param {string} path
   * @throws {UsageError} if something is there
   */
  constructor(path) {
    this.path = resolve(path)
    this.#before = entriesOf(this.path) ?? []
    const [found, ...others] = this.#before.filter((entry) => !HARMLESS.has(entry))
    if (found !== undefined) {
      const more =
        others.length === 0
          ? ''
          : ` and ${others.length} other ${others.length > 1 ? 'files or folders' : 'file or folder'}`
      throw new UsageError(
        `${this.path} is not empty: it has ${found}${more}. Choose another folder, or empty this one.`,
      )
    }
  }

  /** Creates the folder, and those above it, if they are missing. */
  create() {
    this.#created = mkdirSync(this.path, { recursive: true }) ?? null
  }

  /** Removes everything that was not there before. */
  remove() {
    const options = { recursive: true, force: true, maxRetries: 5 }
    if (this.#created !== null) return rmSync(this.#created, options)
    for (const entry of entriesOf(this.path) ?? []) {
      if (!this.#before.includes(entry)) rmSync(join(this.path, entry), options)
    }
  }
}

/**
 * @param {string} folder
 * @returns {string[] | null} null if there is none
 * @throws {UsageError} if it is a file
 */
function entriesOf(folder) {
  try {
    return readdirSync(folder)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'ENOENT') return null
    if (code === 'ENOTDIR') {
      throw new UsageError(
        `${folder} is a file, or is inside one. Choose a folder in ${dirname(folder)}.`,
      )
    }
    throw error
  }
}
