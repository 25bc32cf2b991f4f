import type { AssetCreated, AssetEvent } from '../core/events/events.ts'
import type { WrittenLabel } from '../core/labels/label.ts'
import type { Asset, AssetMeta } from '../core/messages/asset-meta.ts'
import type { AssetRefInput, NamespaceOption } from './asset-locator.ts'
import type { AssetInfo, AssetMaker, AssetStore, StoreUsage, StoreVerified } from './asset-store.ts'
import type { AssetsConfig, ResolvedAssetsConfig } from './assets-config.ts'
import type { BodyInput } from './bodies/body-input.ts'
import type { AssetText } from './documents/document-text.ts'
import type { Edit } from './edit/edit.ts'
import type { SweepOptions, SweepResult } from './sweep-assets.ts'
import type { TableRows } from './tables/table-rows.ts'

/** Options of {@link Assets.save}. */
export interface SaveOptions extends SaveAssetOptions {
  /** The name of the file. Default: that of a `File`. */
  name?: string | null
  /** What the model reads about the asset, besides its name and type. */
  description?: string
  /** The kind of the asset in its metadata, of your choice. */
  assetType?: string
  /** An id of your choice. If it is taken, `save` rejects with `asset_exists`. Default: a new id. */
  assetId?: string
  /** Whether to keep the bytes without a copy. You must not write to them afterwards. Default: false. */
  owned?: boolean
}

/** A structured asset to save. */
export interface StructuredAssetInput extends Omit<Asset, 'asset_id'> {
  asset_id?: string
}

/** Options of {@link Assets.saveAsset}. */
export interface SaveAssetOptions extends AssetMaker, NamespaceOption {
  /** After this time, the asset is no longer found. Default: it does not expire. */
  expiresAt?: Date | string | null
  /** Aborting it stops the work. Nothing is saved then. */
  signal?: AbortSignal
}

/** Limits of a query. */
export interface QueryLimits {
  /** Maximum number of rows of the result. */
  rows: number
  /** Maximum time until the last row, in milliseconds. */
  timeoutMs: number
}

/** A query over tables. */
export interface TableQuery {
  /** One SELECT; tables by their references in double quotes, or by the names of `tables`. */
  sql: string
  /**
   * Tables by the names that the query uses for them. Each is a reference, a list of objects, or an object with only one
   * such list.
   */
  tables?: Readonly<Record<string, string | object>>
}

/** Options of {@link Assets.query}. */
export interface QueryOptions extends SaveAssetOptions, Partial<QueryLimits> {
  /** The name of the result. */
  name?: string
}

/** Options of {@link Assets.edit}. */
export interface EditOptions extends SaveAssetOptions {
  /** Checks the edits and returns the diff, without saving anything. */
  dryRun?: boolean
}

/** The result of {@link Assets.edit}. */
export interface EditedAsset {
  /** The new version. With `dryRun`, the edited asset. */
  asset: AssetInfo
  /** The reference of the new version, with the field path of the edited reference. */
  ref: string
  /** The edited reference. */
  previous: string
  /** The number of places that changed. For a table, the number of its rows. */
  changes: number
  /** A unified diff of a text, the changed paths of JSON, or the size of a table. At most about 2,000 characters. */
  diff: string
}

/** Options of {@link Assets.importFile}. An aborted import leaves neither the file nor a table. */
export interface ImportOptions extends SaveOptions {
  /** The file's name; its extension helps to recognize a table. */
  name: string
  mime?: string | null
  /**
   * Reports progress: `bytes` of `size` bytes of the file were read (`reading`), or were read once more because later
   * rows have other types than the first rows (`writing`).
   */
  onProgress?(progress: { phase: 'reading' | 'writing'; bytes: number; size: number }): void
}

/** The result of {@link Assets.importFile}. */
export interface ImportedFile {
  /** The original file. */
  asset: AssetInfo
  /** Its table; for a workbook, the table of the first sheet. Null if the file is not a table. */
  table: AssetInfo | null
  /** For a workbook with several sheets, an asset that names the table of each sheet. */
  workbook: AssetInfo | null
}

/** A range of bytes: `start` inclusive, `end` exclusive; a negative `start` counts from the end. */
export interface OpenOptions extends NamespaceOption {
  start?: number
  end?: number
  signal?: AbortSignal
}

/**
 * An open body: bytes `start` (inclusive) to `end` (exclusive) of `size`. The store is read only when the stream is.
 */
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
 * The methods that read assets and delete them. Every one takes a bare id, an asset URL or a reference object. It rejects
 * with `asset_not_found` for an asset that is unknown in the call's namespace, and with `invalid_reference` for a
 * malformed reference. A reference with a field path names the value at that path: bytes unchanged, text as UTF-8,
 * other values as JSON.
 */
export interface AssetReader {
  /**
   * Returns the whole body, which the caller may change, and its type. Structured content gives JSON; a table gives
   * Parquet.
   *
   * @throws ByrefError `field_not_found` for a path that does not exist; `asset_unsupported` for a field that a file
   * cannot contain, such as a list with bytes in it; `asset_too_large` for a field of content larger than
   * `limits.valueBytes`, `too_deep` for one of content with more levels than `limits.depth`
   */
  get(ref: AssetRefInput, options?: NamespaceOption): Promise<{ bytes: Uint8Array; mime: string }>
  /** Like `get`, but as base64 without line breaks. */
  getBase64(
    ref: AssetRefInput,
    options?: NamespaceOption,
  ): Promise<{ base64: string; mime: string }>
  /** Like `get`, but as `data:<mime>;base64,…`. */
  getDataUrl(ref: AssetRefInput, options?: NamespaceOption): Promise<string>
  /**
   * Returns the body as a stream, or its bytes from `start` to `end`. Cancel a stream that you do not read.
   *
   * @throws ByrefError as `get`; `range_not_satisfiable` for bytes that do not exist
   */
  open(ref: AssetRefInput, options?: OpenOptions): Promise<OpenedAsset>
  /** Returns the description of the asset. A field path is ignored. Never reads a body. */
  info(ref: AssetRefInput, options?: NamespaceOption): Promise<AssetInfo>
  /**
   * Returns a URL of the body: the store's own URL, or a data URL if the store has none or with `inline`. `expiresIn`
   * is the lifetime of signed URLs in whole seconds, at most 7 days; the default is the store's.
   *
   * @throws ByrefError `bad_request` for another `expiresIn`
   */
  urlFor(
    ref: AssetRefInput,
    options?: NamespaceOption & { inline?: boolean; expiresIn?: number },
  ): Promise<string>
  /**
   * Lists assets, newest first, at most 1,000 at once (default: 200). `next` is the `cursor` of the next page, null at
   * the end.
   */
  list(
    options?: NamespaceOption & { limit?: number; cursor?: string | null },
  ): Promise<{ assets: AssetInfo[]; next: string | null }>
  /** Removes the asset; false if there was no such asset. */
  delete(ref: AssetRefInput, options?: NamespaceOption): Promise<boolean>
  /**
   * The value at the reference's field path. Without a path, the content: text for text types, a value for JSON and
   * structured content, else bytes. The caller may change the value. Numbers of a JSON file become JavaScript numbers,
   * so integers beyond 2^53 are rounded (`get` gives the file itself); bigints of structured content are kept.
   */
  resolve(ref: AssetRefInput, options?: NamespaceOption): Promise<unknown>
  /**
   * Returns the text of an asset. For a PDF, DOCX or XLSX file, this is the text of all pages. Otherwise, it is
   * its bytes as text. A document is parsed once, by an optional package (docs/reference/assets.md).
   *
   * @throws ByrefError `asset_unsupported` for an asset without text, or that cannot be read; `asset_too_large` for a
   * document with more text than `limits.valueBytes`; `dependency_missing` without the package
   */
  text(ref: AssetRefInput, options?: NamespaceOption): Promise<AssetText>
  /**
   * Returns the rows of a table, or of any list of objects that a reference names. They are read as they are iterated.
   * A file that was saved and not imported is imported at its first use.
   *
   * @throws ByrefError `invalid_arguments` for a value without rows, and for a workbook of several sheets; `TableError`
   */
  rows(ref: AssetRefInput, options?: NamespaceOption & { signal?: AbortSignal }): Promise<TableRows>
  /**
   * Lists the versions of an asset, oldest first: all that were made from the same first version, directly or not.
   * Deleted versions are left out, and `previous` of the next one still names them. It reads the records of all assets
   * that are younger than the first version.
   */
  versions(ref: AssetRefInput, options?: NamespaceOption): Promise<AssetInfo[]>
  /** Returns the asset's meta. Never reads a body. */
  meta(ref: AssetRefInput, options?: NamespaceOption): Promise<AssetMeta>
}

/** Saves, changes and reads assets. Their references follow the rules of {@link AssetReader}. */
export interface Assets extends AssetReader {
  /**
   * Saves a file. Its type comes from its bytes, else from `mime` (default: that of the Blob or the Response), else
   * from its name. Bytes are copied unless they are `owned`. A stream is read to its end, or cancelled if the save
   * fails.
   *
   * @throws ByrefError `asset_invalid` for anything that is not a body (also for text), for a malformed type or time, and for a
   * stream that was read or is being read elsewhere; `asset_too_large`, `quota_exceeded`, `asset_exists`, `storage_full`, `storage_failed`; what `onEvent` throws, when
   * the asset is saved
   */
  save(body: BodyInput, mime?: string | null, options?: SaveOptions): Promise<AssetInfo>
  /**
   * Saves structured content as it is at the time of the call: JSON with bytes at its leaves; in the memory store also
   * live objects. With a MIME type, bytes and Blobs are saved as files, and text of a `text/…` type as text, whatever
   * it looks like.
   *
   * @throws ByrefError as `save`, also with an empty `content_type`; `too_deep`, and `asset_unsupported` for a live object that the store cannot keep
   */
  saveAsset(asset: StructuredAssetInput, options?: SaveAssetOptions): Promise<AssetInfo>
  /**
   * Saves a file. A table (CSV, TSV, JSON rows, NDJSON, Parquet, Arrow, XLSX) also becomes a structured asset, with
   * `columns`, `rows`, and `source` (the reference of the file). Its body is Parquet, so that a row or a cell is a
   * range of it (docs/reference/tables.md). A broken table throws `TableError`, and the asset of the file stays.
   */
  importFile(body: BodyInput, options: ImportOptions): Promise<ImportedFile>
  /**
   * Queries tables with SQL (by DuckDB, an optional package): one SELECT. It names tables by their references in double
   * quotes, or by the names in `tables`. The result is a table.
   *
   * @throws ByrefError `invalid_arguments` for SQL that is wrong or reads anything else; `result_too_large` above
   * `rows` (default: 100,000), `tool_timeout` after `timeoutMs` (default: 30 s); `dependency_missing` without DuckDB
   */
  query(query: TableQuery, options?: QueryOptions): Promise<AssetInfo>
  /**
   * Applies edits in order, all or none, and saves the result as a new version: an asset of the same type and name,
   * whose `previous` is the edited one. Bytes outside of the edits stay as they are. A text and a JSON file may be
   * larger than memory. With a field path, the text or JSON at that path is edited.
   *
   * @throws ByrefError `edit_rejected` if a text does not occur exactly once, a line has another text, a path does not exist
   * or a `test` fails; `asset_unsupported` for anything but text, JSON and tables; `invalid_arguments`; what `query` and
   * `save` throw
   */
  edit(ref: AssetRefInput, edits: readonly Edit[], options?: EditOptions): Promise<EditedAsset>
  /**
   * Removes expired assets, leftovers of crashes, and the assets of the namespace that are no longer referenced. It is
   * mark and sweep, and safe during writes.
   */
  sweep(options?: NamespaceOption & SweepOptions): Promise<SweepResult>
  /** Reads every body of the namespace and compares it with its digest. Yields one result for each. */
  verify(options?: NamespaceOption & { signal?: AbortSignal }): AsyncIterable<StoreVerified>
  /**
   * Returns the usage of the namespace: the number of assets, and the bytes of their distinct bodies, including parts
   * of structured content.
   */
  usage(options?: NamespaceOption): Promise<StoreUsage>
  /**
   * For your own store without records: takes the content of an `ASSET_CREATED` event, so that its asset is known again
   * after a restart, only in its namespace. Other stores ignore it. Agents call it with the log of a conversation that
   * continues.
   */
  remember(created: AssetCreated, options?: NamespaceOption): void
  /** Reports a body that could not become an asset to `onEvent`. */
  reportError(error: AssetFailure): Promise<void>
  /**
   * Returns the same assets with other defaults: for one run, one tool or one call. Its `onEvent` is called before the
   * outer one.
   *
   * @throws ByrefError `config_invalid` for a namespace in mode `none`
   */
  scoped(scope: AssetScope): Assets
  /** Opens the store, so that a wrong configuration is found early. */
  ready(): Promise<void>
  readonly config: ResolvedAssetsConfig
}

/** A body that could not become an asset, and its origin. */
export interface AssetFailure extends AssetMaker {
  code: string
  message: string
  mime?: string
}

/** Default options for every call of a view. */
export interface AssetScope extends AssetMaker, NamespaceOption {
  /** Receives every new asset. It is awaited, so that the asset can be logged before its reference is used. */
  onEvent?: (event: AssetEvent) => unknown
  /** The current label of what is saved (docs/reference/trust.md). The record keeps it. */
  label?: () => WrittenLabel
}

/** Options of {@link createAssets}. */
export interface CreateAssetsOptions extends AssetScope {
  config?: AssetsConfig
  /** A store to use instead of the one that `config.backend` names. */
  store?: AssetStore
}
