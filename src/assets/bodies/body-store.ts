import type { AssetBody } from '../asset-store.ts'

/**
 * A place for bytes: four functions, and a fifth where bodies have URLs. It knows neither assets nor digests: whoever puts a body makes its key, and a key is
 * used for one body only, once. So nothing is ever written over, and no two processes can mean different bytes by one key.
 * `testBodyStore` of `byref/testing` is this contract as tests.
 *
 * - A key is lower-case letters, digits, `-`, `_` and `.`, in steps divided by `/`: `_/1fxa/1fxa…0b.png`. None begins a
 *   step with a dot.
 * - Whatever fails is a ByrefError: `storage_full` where there is no room, `config_invalid` for what its owner must put
 *   right, else `storage_failed` with its `cause`.
 */
export interface BodyStore {
  /** For messages and `assetConfig`, such as `fs`. */
  readonly name: string
  /**
   * Keeps a body. It is durable, as far as the store can be, when this resolves. Bytes are the store's own from now on.
   * A stream is read to its end; what it fails with, or the signal's reason, rejects this, and then the body may be listed
   * for a while, or not.
   */
  put(key: string, body: AssetBody, options: BodyPutOptions): Promise<void>
  /**
   * Bytes `start` (inclusive) to `end` (exclusive), never empty, as a stream that is the caller's to cancel; null where
   * there is no such body. One that has fewer bytes ends early.
   */
  open(key: string, range: BodyRange): Promise<ReadableStream<Uint8Array> | null>
  /** Removes a body; no error if there is none. */
  delete(key: string): Promise<void>
  /** The bodies whose keys start with `prefix`, a whole number of steps or empty, in any order. */
  list(prefix: string): AsyncIterable<ListedBody>
  /** Where anybody can fetch a body for `expiresIn` seconds or longer; absent, bodies travel as data URLs. */
  urlFor?(key: string, options: { mime: string; expiresIn: number }): Promise<string>
  /** Fails where the store cannot be used: with wrong keys, without its bucket. Writes nothing. */
  check?(): Promise<void>
}

/** Options of {@link BodyStore.put}. */
export interface BodyPutOptions {
  /** For stores that serve what they keep. */
  mime: string
  /** Ends the put, also while its stream is silent. */
  signal?: AbortSignal
}

/** Which bytes of a body that has `size` in all. */
export interface BodyRange {
  start: number
  end: number
  size: number
  /** Nobody waits for the body any more. */
  signal?: AbortSignal
}

/** A body in a listing. */
export interface ListedBody {
  key: string
  size: number
  /** When it was put, in milliseconds since 1970 by the store's own clock. */
  putAt: number
}
