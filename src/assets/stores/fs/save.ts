import { checkAbout, checkDigest, objectsUnsupported } from '../../asset-record.ts'
import type { AssetBody, FullAssetStore } from '../../asset-store.ts'
import { consume } from '../../bodies/abortable.ts'
import { copyBytes, peek } from '../../bodies/body.ts'
import { sha256 } from '../../bodies/digest.ts'
import { newStoredRecord, withoutHolder } from '../stored-record.ts'
import { removeFile, storageError, writeBody } from './durable.ts'
import type { FsFolder } from './folder.ts'
import { createPublisher } from './publish.ts'
import type { Staged } from './publish-group.ts'

/** Bodies up to this size wait in memory, so that many that come at once are written together. */
const SMALL = 64 * 1024

/** The `save` of the fs store. */
export function createFsSave(
  folder: FsFolder,
  options: { publicNames: boolean },
): FullAssetStore['save'] {
  const publish = createPublisher(folder, options)

  /** Brings a body to the disk, or into memory if it is small, and tells what it is. */
  async function stage(
    body: AssetBody,
    bodies: Staged['bodies'],
    signal?: AbortSignal,
  ): Promise<{ digest: string; size: number }> {
    const { head, complete, body: whole } = await peek(body, SMALL, signal)
    if (complete) {
      // A copy: nobody may change it while it waits to be written.
      const bytes = body instanceof Uint8Array ? copyBytes(head) : head
      const about = { digest: sha256(bytes), size: bytes.byteLength }
      bodies.set(about.digest, bytes)
      return about
    }
    const path = (await folder.ready()).path('body')
    bodies.set(path, path)
    const about = await writeBody(path, whole, signal)
    bodies.delete(path)
    if (bodies.has(about.digest)) await removeFile(path)
    else bodies.set(about.digest, path)
    return about
  }

  return (body, mime, options = {}) =>
    consume(body, options.signal, async (source) => {
      if (options.objects?.length) throw objectsUnsupported('fs')
      checkAbout(mime, options)
      const bodies: Staged['bodies'] = new Map()
      try {
        await folder.ready()
        for (const part of options.parts ?? []) {
          checkDigest(part.digest, (await stage(part.bytes, bodies)).digest)
        }
        const about = await stage(source, bodies, options.signal)
        options.signal?.throwIfAborted()
        const record = newStoredRecord(about, mime, options)
        await publish({ record, bodies })
        return { assetId: record.assetId, info: withoutHolder(record) }
      } catch (error) {
        throw storageError(error, 'Saving an asset')
      } finally {
        await removeFiles(bodies)
      }
    })
}

/** What has got its name keeps that; what cannot be removed is swept with the writer's folder. */
async function removeFiles(bodies: Staged['bodies']): Promise<void> {
  const files = [...bodies.values()].filter((body) => typeof body === 'string')
  await Promise.allSettled(files.map((file) => removeFile(file)))
}
