import { client } from '../app/client.ts'
import { bytesOf } from '../offline/base64.ts'

/** A sample as it stands in the list of them. */
export interface SampleInfo {
  name: string
  title: string
  description: string
}

/** A sample conversation: the lines of an export, and the files that they name by the ids they had. */
interface Sample {
  lines: readonly string[]
  files: readonly { asset: string; table?: string; name: string; mime: string; base64: string }[]
}

/** The samples that come with the app; none where what serves it has none. */
export async function listSamples(): Promise<SampleInfo[]> {
  const list = await load<unknown>('index')
  return Array.isArray(list) ? list : []
}

/**
 * Puts a sample into the server by the routes that anybody uses: its files are uploaded, and the conversation is imported
 * with their new ids. One that is there already is left as it is. Gives the conversation's id.
 */
export async function loadSample(name: string): Promise<string> {
  const id = `sample-${name}`
  if (await client.conversationSummary(id)) return id
  const { lines, files } = await load<Sample>(name)
  let text = lines.join('\n')
  for (const { asset, table, name, mime, base64 } of files) {
    const saved = await client.upload(new File([bytesOf(base64)], name, { type: mime }))
    text = text.replaceAll(asset, saved.asset.assetId)
    if (table && saved.table) text = text.replaceAll(table, saved.table.assetId)
  }
  await client.importConversation(text, { id })
  return id
}

async function load<T>(name: string): Promise<T> {
  const response = await fetch(`/samples/${name}.json`)
  if (!response.ok) throw new Error(`The sample ${name} could not be loaded (${response.status}).`)
  return (await response.json()) as T
}
