import type { Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createAgent } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { hasBrowser } from '../browser.ts'
import { attach, messageBox, type OpenWorkbench, thread, workbenchOf } from './open-workbench.ts'

describe.skipIf(!hasBrowser)('a message that waits for its file', () => {
  let workbench: OpenWorkbench

  beforeAll(async () => {
    const model = scriptedModel(() => 'Thank you.')
    workbench = await workbenchOf(createAgent({ model }))
  })
  afterEach(() => workbench.closePages())
  afterAll(() => workbench?.close())

  /** A page with a message to send, whose upload continues when `upload` is called. */
  async function held(): Promise<{ page: Page; upload: () => void; sent: string[] }> {
    const page = await workbench.open()
    const sent: string[] = []
    page.on('request', (request) => {
      if (/\/messages$/.test(request.url())) sent.push(request.url())
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/api/assets*', async (route: Route) => {
      await promise
      await route.continue()
    })
    await attach(page, 'prices.csv', 'item,price\ntea,3\n')
    await messageBox(page).fill('What does tea cost?')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Sends when the files are uploaded…').waitFor()
    return { page, upload: resolve, sent }
  }

  it('is not sent without it when the upload is cancelled', async () => {
    const { page, upload, sent } = await held()
    await page.getByRole('button', { name: 'Cancel prices.csv' }).click()
    await page.getByText('Sends when the files are uploaded…').waitFor({ state: 'detached' })
    upload()
    // A second message proves that nothing was sent before it.
    expect(await messageBox(page).inputValue()).toBe('What does tea cost?')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await thread(page).getByText('Thank you.').waitFor()
    expect(sent).toHaveLength(1)
    expect(await thread(page).getByText('What does tea cost?').count()).toBe(1)
  })

  it('is sent with it as soon as the upload is complete', async () => {
    const { page, upload, sent } = await held()
    expect(sent).toEqual([])
    upload()
    await thread(page).getByText('Thank you.').waitFor()
    const attached = thread(page).getByRole('list', { name: 'Attachments' })
    await attached.getByText('prices.csv').waitFor()
    expect(sent).toHaveLength(1)
  })
})
