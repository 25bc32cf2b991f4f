import type { Server } from '../app/server.ts'
import { bytesOf } from '../save-page/base64.ts'

/** A sample in the list of samples. */
export interface SampleInfo {
  name: string
  title: string
  description: string
}

/** A sample conversation: the lines of an export, and its files by their original ids. */
interface Sample {
  lines: readonly string[]
  files: readonly { asset: string; table?: string; name: string; mime: string; base64: string }[]
}

/** Returns the samples that come with the workbench. */
export async function listSamples({ loadFile }: Server): Promise<SampleInfo[]> {
  return (await loadFile('samples/index.json')).json()
}

/**
 * Adds a sample to the server with the public routes: it uploads the files, and imports the conversation with their new
 * ids. An existing conversation is left unchanged. Returns the conversation's id, and the id of its first message.
 */
export async function loadSample(
  { client, loadFile }: Server,
  name: string,
): Promise<{ id: string; first: string | null }> {
  const id = `sample-${name}`
  const { lines, files } = (await (await loadFile(`samples/${name}.json`)).json()) as Sample
  const first = firstMessage(lines)
  if (await client.conversationSummary(id)) return { id, first }
  let text = lines.join('\n')
  for (const { asset, table, name, mime, base64 } of files) {
    const saved = await client.upload(new File([bytesOf(base64)], name, { type: mime }))
    text = text.replaceAll(asset, saved.asset.assetId)
    if (table && saved.table) text = text.replaceAll(table, saved.table.assetId)
  }
  await client.importConversation(text, { id })
  return { id, first }
}

/** Returns the id of the first message of a person or the agent. */
function firstMessage(lines: readonly string[]): string | null {
  for (const line of lines) {
    const { event } = JSON.parse(line) as {
      event?: { type: string; payload?: { id?: string; type?: string } }
    }
    if (event?.type === 'NEW_MESSAGE' && event.payload?.id) return event.payload.id
  }
  return null
}
