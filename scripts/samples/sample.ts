import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Assets } from '../../src/assets/assets-contract.ts'
import { createAssets } from '../../src/assets/create-assets.ts'
import { createMemoryLog } from '../../src/log/memory-log.ts'

/** The environment in which a sample is made. */
export interface Studio {
  log: ReturnType<typeof createMemoryLog>
  assets: Assets
  /** Saves a file like one that a person attaches. Returns the references of the file and of its table. */
  attach(
    name: string,
    bytes: Uint8Array,
    mime?: string,
  ): Promise<{ ref: string; table: string | null }>
}

/** A sample conversation, and how it is made. */
export interface Sample {
  name: string
  title: string
  description: string
  /** Makes it with this id. */
  make(studio: Studio, conversation: string): Promise<void>
}

/** A file of a sample, with its ids in the conversation. */
interface SampleFile {
  asset: string
  table?: string
  name: string
  mime: string
  base64: string
}

const FOLDER = join(import.meta.dirname, '../../web/public/samples')

/** Makes samples, and writes them into the workbench: the lines of an export, and the files that they name. */
export async function writeSamples(samples: readonly Sample[]): Promise<void> {
  await mkdir(FOLDER, { recursive: true })
  for (const sample of samples) {
    const text = JSON.stringify(await record(sample))
    await writeFile(join(FOLDER, `${sample.name}.json`), text)
    console.log(`${sample.name}.json`, `${Math.round(text.length / 1000)} kB`)
  }
  const index = samples.map(({ name, title, description }) => ({ name, title, description }))
  await writeFile(join(FOLDER, 'index.json'), `${JSON.stringify(index, null, 2)}\n`)
}

async function record({ name, title, make }: Sample) {
  const log = createMemoryLog()
  const assets = createAssets()
  const tables = new Map<string, string>()
  await make(
    {
      log,
      assets,
      async attach(name, bytes, mime) {
        const { asset, table } = await assets.importFile(bytes, { name, mime, by: 'user' })
        if (table) tables.set(asset.assetId, table.assetId)
        return { ref: asset.ref, table: table?.ref ?? null }
      },
    },
    name,
  )
  await log.rename(name, title)
  const lines: string[] = []
  for await (const line of log.export(name)) lines.push(line.trimEnd())
  return { lines, files: await filesIn(assets, lines.join('\n'), tables) }
}

/** Returns the files that the lines name. Tables are made again from their files. */
async function filesIn(assets: Assets, text: string, tables: ReadonlyMap<string, string>) {
  const files: SampleFile[] = []
  for (let cursor: string | undefined; ; ) {
    const { assets: page, next } = await assets.list({ cursor })
    for (const { assetId, ref, name, mime } of page) {
      const table = tables.get(assetId)
      const isNamed = text.includes(assetId) || (table !== undefined && text.includes(table))
      if (!isNamed || [...tables.values()].includes(assetId)) continue
      const { stream } = await assets.open(ref)
      const base64 = (await buffer(stream)).toString('base64')
      files.push({ asset: assetId, table, name: name ?? 'file', mime, base64 })
    }
    if (next === null) return files
    cursor = next
  }
}
