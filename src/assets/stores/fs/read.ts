import type { FileHandle } from 'node:fs/promises'
import { ByrefError } from '../../../errors.ts'
import { assetNotFound } from '../../asset-record.ts'
import type { StoreOptions } from '../../asset-store.ts'
import type { ByteRange } from '../../bodies/byte-range.ts'
import { createDigester } from '../../bodies/digest.ts'
import type { StoredRecord } from '../stored-record.ts'
import { removeUnheld, restoreBody } from './bodies.ts'
import { openIfThere, storageError, withStorageErrors } from './durable.ts'
import type { FsLayout } from './layout.ts'

const READ_SIZE = 256 * 1024
const ATTEMPTS = 4
const READING = 'Reading an asset'

/** Reads the bodies of records. */
export interface FsReader {
  /**
   * Opens a body, and puts it back first where a process that was killed had left it aside.
   *
   * @throws ByrefError `asset_not_found` when the asset went meanwhile, `storage_failed` when only the body is missing
   */
  openBody(record: StoredRecord, digest: string): Promise<FileHandle>
  bytes(record: StoredRecord): Promise<Uint8Array>
  chunks(
    record: StoredRecord,
    digest: string,
    range: ByteRange,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>>
  /** The digest of a body as it is on disk. */
  digestOf(record: StoredRecord, digest: string): Promise<string>
}

/** A reader; `find` tells whether an asset is still there, and no other under its id. */
export function createFsReader(
  layout: FsLayout,
  find: (assetId: string, where: StoreOptions) => Promise<StoredRecord | null>,
): FsReader {
  const openBody: FsReader['openBody'] = (record, digest) =>
    withStorageErrors(READING, () => findBody(record, digest))

  async function findBody(record: StoredRecord, digest: string): Promise<FileHandle> {
    const space = layout.space(record.namespace)
    for (let attempt = 1; ; attempt++) {
      const file = await openIfThere(space.body(digest))
      if (file) return file
      if (await restoreBody(space, digest)) await removeUnheld(space, digest)
      else {
        const current = await find(record.assetId, record)
        if (current?.holder !== record.holder) throw assetNotFound(record.assetId)
        if (attempt >= ATTEMPTS) throw bodyDamaged(record)
      }
    }
  }

  async function withBody<T>(
    record: StoredRecord,
    digest: string,
    run: (file: FileHandle) => Promise<T>,
  ): Promise<T> {
    const file = await openBody(record, digest)
    try {
      return await withStorageErrors(READING, () => run(file))
    } finally {
      await file.close()
    }
  }

  return {
    openBody,

    bytes: (record) =>
      withBody(record, record.digest, async (file) => {
        const bytes = await file.readFile()
        if (bytes.byteLength !== record.size) throw bodyDamaged(record)
        return bytes
      }),

    async *chunks(record, digest, { start, end }) {
      const file = await openBody(record, digest)
      try {
        for (let at = start; at < end; ) {
          const buffer = new Uint8Array(Math.min(READ_SIZE, end - at))
          const { bytesRead } = await file.read(buffer, 0, buffer.byteLength, at)
          if (bytesRead === 0) throw bodyDamaged(record)
          at += bytesRead
          yield bytesRead === buffer.byteLength ? buffer : buffer.slice(0, bytesRead)
        }
      } catch (error) {
        throw storageError(error, READING)
      } finally {
        await file.close()
      }
    },

    digestOf: (record, digest) =>
      withBody(record, digest, async (file) => {
        const digester = createDigester()
        const chunks = file.createReadStream({ highWaterMark: READ_SIZE, autoClose: false })
        for await (const chunk of chunks) digester.update(chunk)
        return digester.finish().digest
      }),
  }
}

function bodyDamaged(record: StoredRecord): ByrefError {
  return new ByrefError(
    'storage_failed',
    `The body of asset ${JSON.stringify(record.assetId)} is missing or damaged on disk; run "byref assets verify".`,
  )
}
