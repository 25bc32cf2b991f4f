import { ByrefError } from '../../core/errors.ts'
import { meterStream } from '../bodies/body.ts'
import type { BodyInput } from '../bodies/body-input.ts'
import type { Finding } from './find-assets.ts'
import { sizeOf, streamIn } from './found-body.ts'

/** Counts the bytes of one result. */
export interface ResultMeter {
  /** The body, counted as it flows beyond the `size` that is counted already. */
  watch(body: BodyInput, size: number): BodyInput
  /** @throws ByrefError `result_too_large` */
  check(): void
}

/**
 * A meter that has counted what is known before: each stream once, by its `content-length`.
 *
 * @throws ByrefError `result_too_large` beyond `limit` bytes
 */
export function createResultMeter(findings: readonly Finding[], limit: number): ResultMeter {
  const distinct = new Map(
    findings.map((finding) => [streamOfFinding(finding) ?? finding, finding]),
  )
  let total = 0
  for (const finding of distinct.values()) total += sizeOfFinding(finding)

  function check(): void {
    if (total <= limit) return
    throw new ByrefError(
      'result_too_large',
      `The result holds more than ${limit} bytes of assets (limits.resultBytes).`,
    )
  }

  check()
  return {
    check,
    watch(body, size) {
      if (!(body instanceof ReadableStream)) return body
      let flown = 0
      const onChunk = (chunk: Uint8Array): void => {
        const counted = Math.max(flown, size)
        flown += chunk.byteLength
        total += Math.max(flown, size) - counted
        check()
      }
      return meterStream(body, { onChunk }).stream
    },
  }
}

function streamOfFinding(finding: Finding): object | null {
  return finding.type === 'value' ? streamIn(finding.body) : null
}

/** Bytes of what was found, as far as they are known. */
export function sizeOfFinding(finding: Finding): number {
  if (finding.type === 'value') return sizeOf(finding.body)
  return finding.urls.reduce((sum, url) => sum + url.data.length * 0.75, 0)
}
