import { withoutCarriedBytes } from '../assets/extract/carried-bytes.ts'
import { type ExtractOptions, extractAssets } from '../assets/extract/extract.ts'
import type { JsonValue } from '../core/json/json.ts'
import { jsonValue } from './json-value.ts'
import { fetchedByReference } from './native-tools.ts'

/**
 * A result as it is kept: JSON, with its bytes as references.
 *
 * @throws what `extractAssets` throws
 */
export async function storedResult(given: unknown, options: ExtractOptions): Promise<JsonValue> {
  const { value } = await extractAssets(given, options)
  return jsonValue(withoutCarriedBytes(fetchedByReference(value))) as JsonValue
}
