import type { AssetBody } from '../asset-store.ts'
import type { ByteRange } from './body.ts'

/**
 * Stores bytes under keys. It knows neither assets nor digests. The caller chooses the key, and a key is used for one
 * body only, once: nothing is ever overwritten, and no two processes can mean different bytes by one key.
 * `testBodyStore` of `byref/testing` tests this contract.
 *
 * - A key consists of lower-case letters, digits, `-`, `_` and `.`, in segments separated by `/`: `_/1fxa/1fxa…0b.png`. No
 *   segment begins with a dot.
 * - A failure is a ByrefError: `storage_full` without space, `config_invalid` for what the owner must fix. Any other error
 *   becomes `storage_failed`, with the error as its `cause`.
 */
export interface BodyStore {
  /** The store's name for messages and `assetConfig`, such as `fs`. */
  readonly name: string
  /**
   * Keeps a body. It is durable, as far as the store can be, when this resolves. The store may keep the bytes: the
   * caller does not change them afterwards. A stream is read to its end; its error, or the signal's reason, rejects
   * this. The body may then be listed for a while.
   */
  put(key: string, body: AssetBody, options: BodyPutOptions): Promise<void>
  /**
   * Bytes `start` (inclusive) to `end` (exclusive), never empty, as a stream that the caller cancels; null if there is
   * no such body. The stream of a body with fewer bytes ends early, or fails with `storage_failed`.
   */
  open(key: string, range: BodyRange): Promise<ReadableStream<Uint8Array> | null>
  /** Removes a body; no error if there is no such body. */
  delete(key: string): Promise<void>
  /** Returns the bodies whose keys start with `prefix`, which is empty or ends at a `/`, in any order. */
  list(prefix: string): AsyncIterable<ListedBody>
  /**
   * Removes the leftovers of interrupted puts that began before a time, in milliseconds since 1970 by the store's clock.
   * Absent: there are none.
   */
  removeUnfinished?(before: number): Promise<void>
  /** Returns a URL that is valid for `expiresIn` seconds or longer. Absent: bodies are sent as data URLs. */
  urlFor?(key: string, options: { mime: string; expiresIn: number }): Promise<string>
  /** Rejects if the store cannot be used, for example without its bucket. Writes nothing. */
  check?(): Promise<void>
}

/** Options of {@link BodyStore.put}. */
export interface BodyPutOptions {
  /** The MIME type, for stores that serve their bodies. */
  mime: string
  /** Aborts the put. The stream of the body then fails with the signal's reason, also while its source is silent. */
  signal?: AbortSignal
}

/** A range of a body that has `size` bytes. */
export interface BodyRange extends ByteRange {
  size: number
  /** Aborted when the body is no longer needed. */
  signal?: AbortSignal
}

/** A body in a listing. */
export interface ListedBody {
  key: string
  size: number
  /** When it was put, in milliseconds since 1970, by the store's clock. */
  putAt: number
}
