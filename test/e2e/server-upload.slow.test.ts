import { afterAll, expect, it } from 'vitest'
import { serverUpload } from '../../scripts/torture/server-upload.ts'
import { temporaryFolder } from './byref-process.ts'

// Short; the long run is `node scripts/torture/server-upload.ts`, of 2 GiB.

const folder = temporaryFolder()
afterAll(folder.remove)

it('uploading and downloading a file takes less memory than its size', async () => {
  const { upload, download } = await serverUpload({ mebibytes: 128, folder: folder.path })
  expect(upload.grownBytes).toBeLessThan(64 * 1024 * 1024)
  expect(download.grownBytes).toBeLessThan(64 * 1024 * 1024)
})
