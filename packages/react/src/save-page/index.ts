// What the page of a saved conversation needs (`web/src/offline`).
export { bytesOf } from './base64.ts'
export { DATA_ID, type SavedAsset, type SavedPage } from './page.ts'
