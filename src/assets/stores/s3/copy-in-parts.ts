import type { S3Client } from '@aws-sdk/client-s3'
import { inParallel } from '../../in-parallel.ts'

/** One request copies 5 GiB at most; smaller parts are copied at once. */
const PART = 1024 ** 3
const PARTS_AT_ONCE = 4

/** A copy of what one request cannot copy; nothing stays of it when it fails. Always true: it is there. */
export async function copyInParts(
  { sdk, client }: { sdk: typeof import('@aws-sdk/client-s3'); client: S3Client },
  copy: {
    Bucket: string
    Key: string
    CopySource: string
    sourceKey: string
    contentType?: string
  },
): Promise<true> {
  const { Bucket, Key, CopySource, sourceKey, contentType } = copy
  const { ContentLength: size = 0, ContentType = contentType } = await client.send(
    new sdk.HeadObjectCommand({ Bucket, Key: sourceKey }),
  )
  const { UploadId } = await client.send(
    new sdk.CreateMultipartUploadCommand({ Bucket, Key, ContentType: contentType ?? ContentType }),
  )
  const upload = { Bucket, Key, UploadId }
  const count = Math.max(1, Math.ceil(size / PART))
  const parts = Array.from({ length: count }, (_, i) => ({ PartNumber: i + 1, ETag: '' }))
  try {
    await inParallel(parts, { limit: PARTS_AT_ONCE }, async (part) => {
      const start = (part.PartNumber - 1) * PART
      const CopySourceRange = `bytes=${start}-${Math.min(start + PART, size) - 1}`
      const { PartNumber } = part
      const copied = await client.send(
        new sdk.UploadPartCopyCommand({ ...upload, PartNumber, CopySource, CopySourceRange }),
      )
      part.ETag = copied.CopyPartResult?.ETag ?? ''
    })
    const MultipartUpload = { Parts: parts }
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload }))
    return true
  } catch (error) {
    // What it leaves, the bucket's own rules for uploads remove; the first error is the one to tell.
    await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch(() => {})
    throw error
  }
}
