export { toAssetStore } from './asset-facade.ts'
export type { AssetRefInput, NamespaceOption } from './asset-locator.ts'
export type {
  AssetAttributes,
  AssetBody,
  AssetKind,
  AssetMaker,
  FullAssetStore,
  RememberedAsset,
  StoreListOptions,
  StoreOpened,
  StoreOpenOptions,
  StoreOptions,
  StorePart,
  StoreQuota,
  StoreSaveOptions,
  StoreSweepOptions,
  StoreSwept,
  StoreUrlOptions,
  StoreUsage,
  StoreVerified,
} from './asset-store.ts'
export type { AssetLimits, ResolvedAssetsConfig } from './assets-config.ts'
export type {
  AssetFailure,
  AssetScope,
  ImportOptions,
  OpenedAsset,
  OpenOptions,
  QueryOptions,
  SaveAssetOptions,
  StructuredAssetInput,
  TableQuery,
} from './assets-contract.ts'
export type {
  BodyPutOptions,
  BodyRange,
  BodyStore,
  ListedBody,
} from './bodies/body-store.ts'
export { type FsBodiesOptions, fsBodies } from './bodies/fs-bodies.ts'
export {
  type R2BodiesOptions,
  type R2Bucket,
  type R2Listed,
  type R2Part,
  type R2PutOptions,
  type R2Upload,
  r2Bodies,
} from './bodies/r2-bodies.ts'
export {
  createS3Connector,
  type S3Connector,
  type S3ConnectorOptions,
  type S3Listed,
  type S3Object,
} from './bodies/s3/connector.ts'
export { type S3BodiesOptions, s3Bodies } from './bodies/s3-bodies.ts'
export { type Extracted, type ExtractOptions, extractAssets } from './extract/extract.ts'
export { namedAssets } from './named-assets.ts'
export { memoryRecords } from './records/memory-records.ts'
export type {
  NewEntry,
  PlacedBody,
  RecordEntry,
  RecordIndex,
  RecordPlace,
} from './records/record-index.ts'
export { createStore } from './stores/create-store.ts'
export { memoryBodies } from './stores/memory.ts'
export {
  createPassthroughStore,
  type PassthroughStoreOptions,
} from './stores/passthrough.ts'
export { type RebuiltRecords, rebuildRecords } from './stores/rebuild-records.ts'
export type { StoreParts } from './stores/store-parts.ts'
export type { SweepOptions, SweepResult } from './sweep-assets.ts'
export { TableError } from './tables/table-error.ts'
export type { ColumnType, TableColumn } from './tables/table-facts.ts'
export type { TableRow, TableRows } from './tables/table-rows.ts'
