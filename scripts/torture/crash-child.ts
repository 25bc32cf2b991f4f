// Saves assets until it is killed, and prints what it saved: `<number> <id>` for each, and `deleted <number>` for
// those that it removed again.
import { writeSync } from 'node:fs'
import { createFsAssetStore } from '../../src/assets/stores/fs.ts'
import { streamOf } from '../../src/testing/asset-store/check.ts'
import { numberedAsset } from './numbered-asset.ts'

const [root = '', first = '0', count = '1000'] = process.argv.slice(2)
const store = createFsAssetStore({ rootDir: root, baseUrl: 'https://example.com' })
await store.ready()
writeSync(1, 'ready\n')

let next = Number(first)
const end = next + Number(count)

async function work(): Promise<void> {
  while (next < end) {
    const number = next++
    const { body, namespace, assetId, parts, removed } = numberedAsset(number)
    const options = { name: String(number), namespace, assetId, parts }
    const source = number % 3 === 0 ? streamOf(body, 7919) : body
    const saved = await store.save(source, 'image/png', options)
    writeSync(1, `${number} ${saved.assetId}\n`)
    if (removed && (await store.delete(saved.assetId, { namespace }))) {
      writeSync(1, `deleted ${number}\n`)
    }
  }
}

await Promise.all(Array.from({ length: 12 }, work))
