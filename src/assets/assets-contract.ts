import type { AssetCreated, AssetEvent } from '../core/events/events.ts'
import type { WrittenLabel } from '../core/labels/label.ts'
import type { AssetMeta } from '../core/messages/asset.ts'
import type { AssetInfo, AssetMaker } from './asset-info.ts'
import type { AssetRefInput, NamespaceOption } from './asset-locator.ts'
import type { AssetStore, StoreUsage, StoreVerified } from './asset-store.ts'
import type { AssetsConfig, ResolvedAssetsConfig } from './assets-config.ts'
import type { BodyInput } from './bodies/body-input.ts'
import type { AssetText } from './documents/document-text.ts'
import type { SweepOptions, SweepResult } from './sweep-assets.ts'
import type { TableRows } from './tables/table-rows.ts'

/** Options of {@link Assets.save}. */
export interface SaveOptions extends AssetMaker, NamespaceOption {
  name?: string | null
  description?: string
  assetType?: string
  /** An id of the caller's choice; taken ones are refused with `asset_exists`. */
  assetId?: string
  /** From then on the asset is unknown. */
  expiresAt?: Date | string | null
  /** The bytes are given away: nobody writes to them again, so that they need no copy. */
  owned?: boolean
  signal?: AbortSignal
}

/** A structured asset to save. */
export interface StructuredAssetInput {
  asset_type?: string
  asset_id?: string
  asset_name?: string
  description?: string
  /** A MIME type, `command`, `asset_ref`, `data`, or a type string such as `<class 'dict'>`. */
  content_type: string
  content: unknown
}

/** Options of {@link Assets.saveAsset}. */
export interface SaveAssetOptions extends AssetMaker, NamespaceOption {
  expiresAt?: Date | string | null
  signal?: AbortSignal
}

/** What a query may take. */
export interface QueryLimits {
  /** Rows of the result. */
  rows: number
  /** Until the last of them. */
  timeoutMs: number
}

/** A query over tables. */
export interface TableQuery {
  /** One SELECT; tables by their references in double quotes, or by the names of `tables`. */
  sql: string
  /** References by the names that the query has for them. */
  tables?: Readonly<Record<string, string>>
}

/** Options of {@link Assets.query}. */
export interface QueryOptions extends SaveAssetOptions, Partial<QueryLimits> {
  /** What the result is called. */
  name?: string
}

/** Options of {@link Assets.importFile}. An abort leaves neither the file nor a table. */
export interface ImportOptions extends SaveOptions {
  /** The file's name; its extension helps to tell a table. */
  name: string
  mime?: string | null
  /** Told how far the making of a table is: of `size` bytes of the file, `bytes` were read (`reading`), or read once more,
   * because later rows have other types than the first (`writing`). */
  onProgress?(progress: { phase: 'reading' | 'writing'; bytes: number; size: number }): void
}

/** What became of a file. */
export interface ImportedFile {
  /** The file as it came. */
  asset: AssetInfo
  /** Its table; of a workbook the first sheet's. Null where the file is not a table. */
  table: AssetInfo | null
  /** Of a workbook with several sheets: an asset that names the table of each. */
  workbook: AssetInfo | null
}

/** Which bytes: `start` inclusive, `end` exclusive; a negative `start` counts from the end. */
export interface OpenOptions extends NamespaceOption {
  start?: number
  end?: number
  signal?: AbortSignal
}

/** An open body: bytes `start` (inclusive) to `end` (exclusive) of `size`. Nothing is read before the stream is. */
export interface OpenedAsset {
  info: AssetInfo
  mime: string
  /** Bytes of the whole body. */
  size: number
  start: number
  end: number
  stream: ReadableStream<Uint8Array>
}

/**
 * Assets by reference. Every method takes a bare id, an asset URL or a reference object, and rejects with
 * `asset_not_found` for what is unknown in the namespace of the call (`invalid_reference` where it is malformed).
 * A reference with a field path stands for the value at that path: bytes as they are, text as UTF-8, the rest as JSON.
 */
export interface Assets {
  /**
   * Saves a file. Its type is what its bytes say, else `mime` (absent: that of the Blob or the Response), else what its name
   * says. Bytes are copied at the call unless they are `owned`; a stream is read to its end, or cancelled when the save
   * fails.
   *
   * @throws ByrefError `asset_invalid` for anything but a body (text too), a malformed type or time, and a stream that
   * somebody else reads or has read; `asset_too_large`, `quota_exceeded`, `asset_exists`, `storage_full`, `storage_failed`; what `onEvent` throws, when
   * the asset is saved
   */
  save(body: BodyInput, mime?: string | null, options?: SaveOptions): Promise<AssetInfo>
  /**
   * Saves structured content: JSON with bytes at its leaves; in the memory store also live objects. It is taken as it is
   * at the call. With a MIME type, bytes and Blobs are saved as the file that they are, and text of a `text/…` type as
   * text, whatever it looks like.
   *
   * @throws ByrefError as `save`, also with an empty `content_type`; `too_deep`, and `asset_unsupported` for a live object that the store cannot keep
   */
  saveAsset(asset: StructuredAssetInput, options?: SaveAssetOptions): Promise<AssetInfo>
  /**
   * Saves a file and, where it is a table (CSV, TSV, JSON rows, NDJSON, Parquet, Arrow, XLSX), also a structured asset of
   * `columns`, `rows` and `source`, the reference of the file. Its body is Parquet, of which a row or a cell is a range
   * (docs/tables.md). A broken table throws `TableError`; the file's asset stays.
   */
  importFile(body: BodyInput, options: ImportOptions): Promise<ImportedFile>
  /**
   * The whole body in memory, as the caller's own, and its type; of structured content its JSON, of a table its Parquet.
   *
   * @throws ByrefError `field_not_found` for a path that leads nowhere; `asset_unsupported` for a field that no file can
   * hold, such as a list with bytes in it; `asset_too_large` where a field is asked for and the content is larger than
   * `limits.valueBytes`, `too_deep` where it has more levels than `limits.depth`
   */
  get(ref: AssetRefInput, options?: NamespaceOption): Promise<{ bytes: Uint8Array; mime: string }>
  /** `get`, as base64 without line breaks. */
  getBase64(
    ref: AssetRefInput,
    options?: NamespaceOption,
  ): Promise<{ base64: string; mime: string }>
  /** `get`, as `data:<mime>;base64,…`. */
  getDataUrl(ref: AssetRefInput, options?: NamespaceOption): Promise<string>
  /**
   * The body as a stream, or the bytes of it from `start` to `end`. Whoever does not read the stream cancels it.
   *
   * @throws ByrefError as `get`; `range_not_satisfiable` for bytes that do not exist
   */
  open(ref: AssetRefInput, options?: OpenOptions): Promise<OpenedAsset>
  /** What is known of the asset; a field path is ignored, also one that leads nowhere. Never reads a body. */
  info(ref: AssetRefInput, options?: NamespaceOption): Promise<AssetInfo>
  /**
   * Where the body can be fetched: by the store's own URL if it has one, else, or if `inline`, a data URL. `expiresIn` is
   * in whole seconds, at most 7 days, for URLs that are signed; the default is the store's.
   *
   * @throws ByrefError `bad_request` for another `expiresIn`
   */
  urlFor(
    ref: AssetRefInput,
    options?: NamespaceOption & { inline?: boolean; expiresIn?: number },
  ): Promise<string>
  /** Newest first, at most 1,000 at once, 200 unless told; `next` is the `cursor` of the next page, null at the end. */
  list(
    options?: NamespaceOption & { limit?: number; cursor?: string | null },
  ): Promise<{ assets: AssetInfo[]; next: string | null }>
  /** Removes the asset; false if there was none. */
  delete(ref: AssetRefInput, options?: NamespaceOption): Promise<boolean>
  /**
   * The value at the reference's field path; a reference without one gives the content: text for text types, a value for
   * JSON and structured content, else bytes. The caller may change what it gets. Numbers of a JSON file become those of
   * JavaScript: integers beyond 2^53 are rounded (`get` gives the file as it is); bigints of structured content are kept.
   */
  resolve(ref: AssetRefInput, options?: NamespaceOption): Promise<unknown>
  /**
   * The text of an asset: of a PDF, DOCX or XLSX its words, page by page; of text and structured content as `get` gives
   * it. A document is read once, by an optional package (docs/assets.md).
   *
   * @throws ByrefError `asset_unsupported` for what has no text, or cannot be read; `asset_too_large` for a document with
   * more text than `limits.valueBytes`; `dependency_missing` without the package
   */
  text(ref: AssetRefInput, options?: NamespaceOption): Promise<AssetText>
  /**
   * The rows of a table, or of any list of objects that a reference leads to, read as they are iterated.
   *
   * @throws ByrefError `invalid_arguments` for what has no rows
   */
  rows(ref: AssetRefInput, options?: NamespaceOption & { signal?: AbortSignal }): Promise<TableRows>
  /**
   * Asks tables by SQL (DuckDB's, an optional package): one SELECT over the tables that it names by their references in
   * double quotes, or by the names of `tables`. The result is a table.
   *
   * @throws ByrefError `invalid_arguments` for SQL that is wrong or reaches for anything else; `result_too_large` above
   * `rows` (default: 100,000), `tool_timeout` after `timeoutMs` (default: 30 s); `dependency_missing` without DuckDB
   */
  query(query: TableQuery, options?: QueryOptions): Promise<AssetInfo>
  /** The asset's meta. Never reads a body. */
  meta(ref: AssetRefInput, options?: NamespaceOption): Promise<AssetMeta>
  /**
   * Removes expired assets, what crashes left, and the assets of the namespace that nothing names any more: mark and
   * sweep, safe while others write.
   */
  sweep(options?: NamespaceOption & SweepOptions): Promise<SweepResult>
  /** Reads every body of the namespace again and compares it with its digest. Yields one finding for each. */
  verify(options?: NamespaceOption & { signal?: AbortSignal }): AsyncIterable<StoreVerified>
  /** What the namespace holds: assets, and the bytes of their distinct bodies, parts of structured content included. */
  usage(options?: NamespaceOption): Promise<StoreUsage>
  /**
   * For a store of your own that keeps no records: what an `ASSET_CREATED` event in the log said, so that its asset is
   * known again after a restart, in its namespace and in no other. Other stores know already. Agents do this with the
   * log of a conversation that goes on.
   */
  remember(created: AssetCreated, options?: NamespaceOption): void
  /** Tells `onEvent` of a body that could not become an asset. */
  reportError(error: AssetFailure): Promise<void>
  /**
   * The same assets with other defaults: for one run, one tool or one call. Its `onEvent` is told before the outer one.
   *
   * @throws ByrefError `config_invalid` for a namespace in mode `none`
   */
  scoped(scope: AssetScope): Assets
  /** Opens the store, so that what is wrong with it shows early. */
  ready(): Promise<void>
  readonly config: ResolvedAssetsConfig
}

/** A body that could not become an asset, and who made it. */
export interface AssetFailure extends AssetMaker {
  code: string
  message: string
  mime?: string
}

/** Defaults for every call of a view. */
export interface AssetScope extends AssetMaker, NamespaceOption {
  /** Told of every new asset; awaited, so that it can be logged before its reference is used. */
  onEvent?: (event: AssetEvent) => unknown
  /** The label of what is saved (docs/trust.md), asked for as it is: its record keeps it, wherever the asset goes. */
  label?: () => WrittenLabel
}

/** Options of {@link createAssets}. */
export interface CreateAssetsOptions extends AssetScope {
  config?: AssetsConfig
  /** A store of your own, or one of ours, instead of what `config.backend` names. */
  store?: AssetStore
}
