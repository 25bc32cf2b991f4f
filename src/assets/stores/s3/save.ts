import { assetExists, checkSave, objectsUnsupported } from '../../asset-record.ts'
import type { AssetBody, FullAssetStore, StoreSaveOptions } from '../../asset-store.ts'
import { consume } from '../../bodies/abortable.ts'
import { newStoredRecord, withoutHolder } from '../stored-record.ts'
import { publish } from './publish.ts'
import { putJson, readRecord, type S3Root, spaceOf } from './records.ts'
import { type StagedBody, stageBody } from './stage.ts'

/** The `save` of the s3 store. */
export function createS3Save(at: S3Root, ready: () => Promise<void>): FullAssetStore['save'] {
  const described = new Set<string>()

  async function describe(namespace: string | null): Promise<void> {
    const { description } = spaceOf(at, { namespace })
    if (described.has(description)) return
    await putJson(at, description, { namespace })
    described.add(description)
  }

  async function save(body: AssetBody, mime: string, options: StoreSaveOptions) {
    if (options.objects?.length) throw objectsUnsupported('s3')
    checkSave(mime, options)
    await ready()
    const { assetId, signal } = options
    if (assetId !== undefined && (await readRecord(at, spaceOf(at, options).record(assetId)))) {
      throw assetExists(assetId)
    }
    let staged: StagedBody | undefined
    try {
      staged = await stageBody(at, body, { mime, signal })
      signal?.throwIfAborted()
      const record = newStoredRecord(staged, mime, options)
      await describe(record.namespace)
      await publish(at, record, staged, options)
      return { assetId: record.assetId, info: withoutHolder(record) }
    } finally {
      // What stays, a sweep finds.
      await staged?.discard().catch(() => {})
    }
  }

  return (body, mime, options = {}) =>
    consume(body, options.signal, (source) => save(source, mime, options))
}
