export type { StoreQuota } from './asset-store.ts'
export type {
  BodyPutOptions,
  BodyRange,
  BodyStore,
  ListedBody,
} from './bodies/body-store.ts'
export { type FsBodiesOptions, fsBodies } from './bodies/fs-bodies.ts'
export { memoryBodies } from './bodies/memory-bodies.ts'
export {
  createS3Connector,
  type S3Connector,
  type S3ConnectorOptions,
  type S3Listed,
  type S3Object,
} from './bodies/s3/connector.ts'
export { type S3BodiesOptions, s3Bodies } from './bodies/s3-bodies.ts'
export { memoryRecords } from './records/memory-records.ts'
export type { NewEntry, PlacedBody, RecordEntry, RecordIndex } from './records/record-index.ts'
export type { RecordPlace } from './records/record-page.ts'
export { createStore, type StoreParts } from './stores/create-store.ts'
export {
  createPassthroughStore,
  type PassthroughStoreOptions,
} from './stores/passthrough.ts'
export { type RebuiltRecords, rebuildRecords } from './stores/rebuild-records.ts'
