import type { Page } from 'playwright-core'
import type { Ids } from './check-view.ts'

interface Info {
  assetId: string
  name: string | null
  kind: string
  table: object | null
}

/** Loads all samples like a person in an empty workbench. Returns the ids that views name. */
export async function openSamples(page: Page, url: string): Promise<Ids> {
  for (const title of [
    'Refunds that a person approves',
    'Four years of weather',
    'A mail that gives orders',
    'Every kind of message',
  ]) {
    await page.goto(url)
    await page.getByRole('button', { name: title }).click()
    await page.waitForURL(/\/c\/sample-/)
  }
  const { assets } = (await (await fetch(`${url}/api/assets`)).json()) as { assets: Info[] }
  const table = assets.find(({ name, table }) => name?.startsWith('sp500') && table)
  const picture = assets.find(({ kind }) => kind === 'image')
  const messages = await fetch(`${url}/api/conversations/sample-every-kind/messages?limit=200`)
  const page1 = (await messages.json()) as {
    messages: { message: { id: string; metadata: { has_debug_data?: boolean } } }[]
  }
  const debug = page1.messages.find(({ message }) => message.metadata.has_debug_data)
  return {
    table: table?.assetId ?? '',
    picture: picture?.assetId ?? '',
    debug: debug?.message.id ?? '',
  }
}
