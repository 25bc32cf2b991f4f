export { bytesOf } from './base64.ts'
export { DATA_ID, type SavedAsset, type SavedPage } from './page.ts'
