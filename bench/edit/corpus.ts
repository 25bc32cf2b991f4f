import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A document from a package of the npm registry. */
export interface CorpusDocument {
  kind: string
  package: string
  version: string
  /** Its path in the package. */
  path: string
  license: string
  bytes: number
  sha256: string
}

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/bench-edit', import.meta.url))

/** All documents, as `corpus.json` lists them. */
export const corpus: readonly CorpusDocument[] = JSON.parse(
  readFileSync(new URL('corpus.json', import.meta.url), 'utf8'),
)

/** Returns the bytes of a document. Its package is downloaded once, and stored outside of the repository. */
export function readDocument(document: CorpusDocument): Buffer {
  const { package: name, version, path, sha256 } = document
  const file = join(packageFolder(`${name}@${version}`), 'package', path)
  const bytes = readFileSync(file)
  const found = sha256Of(bytes)
  if (found !== sha256) throw new Error(`${name}/${path} has the SHA-256 ${found}, not ${sha256}`)
  return bytes
}

/** Returns the SHA-256 of bytes in hex. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function packageFolder(spec: string): string {
  const folder = join(CACHE, spec.replaceAll('/', '+'))
  if (existsSync(join(folder, 'package'))) return folder
  mkdirSync(folder, { recursive: true })
  const download = mkdtempSync(join(CACHE, 'download-'))
  try {
    // npm is installed beside Node, which may be another Node than the one that runs this program.
    execFileSync('npm', ['pack', '--silent', '--pack-destination', download, spec], {
      cwd: dirname(CACHE),
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const [tarball = ''] = readdirSync(download)
    execFileSync('tar', ['xzf', join(download, tarball), '-C', folder])
  } finally {
    rmSync(download, { recursive: true })
  }
  return folder
}
