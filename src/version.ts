import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname } from 'node:path'

const manifest = findPackageJSON(import.meta.url) as string

/** The folder of the package, from the sources and from what was built of them alike. */
export const packageFolder: string = dirname(manifest)

/** The version in package.json. */
export const version: string = JSON.parse(readFileSync(manifest, 'utf8')).version
