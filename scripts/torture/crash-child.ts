// Saves assets until it is killed, and says what it was given: `<number> <size> <id>` for each.
import { writeSync } from 'node:fs'
import { createFsAssetStore } from '../../src/assets/stores/fs/fs.ts'
import { bodyOf, streamOf } from './bodies.ts'

const [root = '', first = '0', count = '1000'] = process.argv.slice(2)
const store = createFsAssetStore({ rootDir: root })
await store.ready()
writeSync(1, 'ready\n')

let next = Number(first)
const end = next + Number(count)

async function work(): Promise<void> {
  while (next < end) {
    const number = next++
    // Small ones share journals, some are large, some are the same.
    const size = number % 10 === 0 ? 200_000 : 300 + (number % 40) * 25
    const bytes = bodyOf(number % 7 === 0 ? 0 : number, size)
    const body = number % 3 === 0 ? streamOf(bytes) : bytes
    const { assetId } = await store.save(body, 'image/png', { name: String(number) })
    writeSync(1, `${number} ${size} ${assetId}\n`)
    if (number % 5 === 0 && (await store.delete(assetId))) writeSync(1, `deleted ${assetId}\n`)
  }
}

await Promise.all(Array.from({ length: 12 }, work))
