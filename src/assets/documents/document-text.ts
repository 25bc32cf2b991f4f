import { ByrefError } from '../../core/errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { DocumentForm } from '../bodies/mime-type.ts'
import type { ContentAccess } from '../content-access.ts'
import { writeBody } from '../tables/spool.ts'
import { OutOfMemoryError, runTableTask } from '../tables/table-process.ts'
import type { WrittenTable } from '../tables/write-table.ts'

const { join } = nodeBuiltin('node:path')

/** The text of an asset. */
export interface AssetText {
  text: string
  /**
   * The line, from 1, at which each page of a document or each sheet of a workbook starts. Other assets have one page.
   */
  pages: readonly number[]
}

/** A document whose text is requested. */
export interface DocumentSource {
  form: DocumentForm
  /** A name for error messages. */
  name: string
  namespace: string | null
  /** The cache key of the text, which is equal for equal documents. */
  key: string
  open(signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>
}

/** Maximum time to read a document. */
const TIMEOUT_MS = 60_000

/**
 * Returns the text of a document. It is read once, in a separate process, and then cached.
 *
 * @throws ByrefError `asset_unsupported` for a file that cannot be read, or without text; `asset_too_large` beyond
 * `valueBytes` or the memory of a process; `dependency_missing` without the library
 */
export async function documentText(
  document: DocumentSource,
  { cache, limits }: Pick<ContentAccess, 'cache' | 'limits'>,
): Promise<AssetText> {
  return cache.load(document.key, async () => {
    const value = await readDocument(document, limits.valueBytes)
    return { value, bytes: value.text.length * 2 }
  })
}

async function readDocument(
  { form, name, namespace, open }: DocumentSource,
  limit: number,
): Promise<AssetText> {
  // Messages to the process are JSON, which does not have Infinity.
  const most = Math.min(limit, Number.MAX_SAFE_INTEGER)
  const [pages] = await runTableTask(
    async (folder, signal) => {
      const path = join(folder, 'source')
      await writeBody(await open(signal), path)
      return { type: 'text', folder, form, name, path, most }
    },
    { timeoutMs: TIMEOUT_MS, namespace },
  ).catch((error: unknown) => {
    throw limitError(error, name)
  })
  // A document without pages throws, so there is a result.
  const { body } = pages as WrittenTable
  try {
    const written = Buffer.from(await body.read(0, body.size)).toString()
    const lines = written.split('\n').slice(0, -1)
    return withLines(lines.map((line) => JSON.parse(line) as string))
  } finally {
    await body.dispose()
  }
}

function withLines(pages: readonly string[]): AssetText {
  let line = 1
  const starts = pages.map((page) => {
    const start = line
    line += page.split('\n').length + 1
    return start
  })
  return { text: pages.join('\n\n'), pages: starts }
}

function limitError(error: unknown, name: string): unknown {
  if (error instanceof OutOfMemoryError)
    return tooLarge(name, 'needs more memory than the limit for one document')
  const isLate = error instanceof DOMException && error.name === 'TimeoutError'
  return isLate ? tooLarge(name, `takes longer than ${TIMEOUT_MS / 1000} s to read`) : error
}

function tooLarge(name: string, why: string): ByrefError {
  return new ByrefError('asset_too_large', `${name} ${why}: split it, or save its text as a file.`)
}
