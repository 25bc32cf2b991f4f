import type { Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createAgent } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { hasBrowser } from '../browser.ts'
import { messageBox, type OpenWorkbench, say, thread, workbenchOf } from './open-workbench.ts'

describe.skipIf(!hasBrowser)('the list of conversations', () => {
  let workbench: OpenWorkbench

  beforeAll(async () => {
    const model = scriptedModel(({ prompt }) => `Answer ${prompt.length}`)
    workbench = await workbenchOf(createAgent({ model }))
  })
  afterEach(() => workbench.closePages())
  afterAll(() => workbench?.close())

  const list = (page: Page) => page.getByRole('navigation', { name: 'Conversations' })

  /** Starts a conversation, waits for its answer, and returns its id. */
  async function start(page: Page, question: string): Promise<string> {
    await page.goto(workbench.url)
    await say(page, question)
    await thread(page)
      .getByText(/^Answer/)
      .waitFor()
    return new URL(page.url()).pathname.split('/').at(-1) ?? ''
  }

  async function ids(title: string): Promise<string[]> {
    const found = (await workbench.api('/api/conversations?limit=100')) as {
      conversations: { id: string; title: string | null }[]
    }
    return found.conversations.filter((one) => one.title === title).map(({ id }) => id)
  }

  async function askToDelete(page: Page, title: string): Promise<void> {
    await list(page).getByRole('link', { name: title }).hover()
    await page.getByRole('button', { name: `Actions for ${title}` }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
  }

  /** A conversation with two versions: the second has another second message. */
  async function twoVersions(page: Page, title: string): Promise<void> {
    await start(page, title)
    await thread(page).getByText(title, { exact: true }).last().hover()
    const article = page.getByRole('article').filter({ hasText: title }).first()
    await article.getByRole('button', { name: 'Message actions' }).click()
    await page.getByRole('menuitem', { name: 'Try again' }).click()
    await page.getByRole('navigation', { name: 'Versions of this message' }).waitFor()
    await expect.poll(async () => (await ids(title)).length).toBe(2)
  }

  it('distinguishes conversations with the same first question', async () => {
    const page = await workbench.open()
    await start(page, 'What is in it?')
    await start(page, 'What is in it?')
    const lines = list(page).getByRole('link', { name: /^What is in it\?/ })
    await expect.poll(() => lines.count()).toBe(2)
    const time = /^What is in it\?· .*\d{1,2}:\d{2}/
    await expect
      .poll(async () => (await lines.allTextContents()).every((text) => time.test(text)))
      .toBe(true)
    const [one, other] = await lines.allTextContents()
    expect(one).not.toBe(other)
  })

  it('shows the title from the list before the conversation is loaded', async () => {
    const page = await workbench.open()
    const id = await start(page, 'A title that stays')
    await page.goto(workbench.url)
    const link = list(page).getByRole('link', { name: 'A title that stays' })
    await link.waitFor()
    // The server never answers the page's request for the conversation.
    await page.route(`**/api/conversations/${id}`, () => {})
    await link.click()
    await page.waitForURL(`**/c/${id}`)
    await page.getByRole('heading', { level: 1, name: 'A title that stays' }).waitFor()
  })

  it('shows no other title while a conversation opens by its URL', async () => {
    const page = await workbench.open()
    const id = await start(page, 'Opened by address')
    await page.addInitScript(`
      window.titles = []
      new MutationObserver(() => {
        const text = document.querySelector('h1')?.textContent
        if (text && text !== titles.at(-1)) titles.push(text)
      }).observe(document, { subtree: true, childList: true, characterData: true })`)
    await page.goto(`${workbench.url}/c/${id}`)
    await thread(page)
      .getByText(/^Answer/)
      .waitFor()
    await page.getByRole('heading', { level: 1, name: 'Opened by address' }).waitFor()
    expect(await page.evaluate('titles')).toEqual(['Opened by address'])
  })

  it('keeps "Try again" in the same conversation, as another version', async () => {
    const page = await workbench.open()
    await twoVersions(page, 'Say it twice')
    await page.getByText('2 / 2').waitFor()
    expect(
      await list(page)
        .getByRole('link', { name: /^Say it twice/ })
        .count(),
    ).toBe(1)
  })

  it('deletes all versions, and only after it knows them', async () => {
    const page = await workbench.open()
    await twoVersions(page, 'Two of me')
    await page.goto(workbench.url)
    const answered = Promise.withResolvers<void>()
    await page.route(/branchesOf=/, async (route) => {
      await answered.promise
      await route.continue()
    })
    await askToDelete(page, 'Two of me')
    const dialog = page.getByRole('dialog', { name: 'Delete this conversation?' })
    await dialog.getByText(/Looking for its other versions/).waitFor()
    const remove = dialog.getByRole('button', { name: 'Delete', exact: true })
    expect(await remove.isDisabled()).toBe(true)
    answered.resolve()
    await dialog.getByText(/in all 2 versions/).waitFor()
    // The list learns of the first deletion before the second one. The dialog stays until both are done.
    await page.route(/\/api\/conversations\/[^/]+$/, async (route) => {
      if (route.request().method() === 'DELETE') await page.waitForTimeout(500)
      await route.continue()
    })
    await remove.click()
    await dialog.waitFor({ state: 'detached' })
    expect(await ids('Two of me')).toEqual([])
  })

  it('deletes nothing if the versions cannot be loaded, and offers to load them again', async () => {
    const page = await workbench.open()
    await twoVersions(page, 'Not half of me')
    await page.goto(workbench.url)
    const fails = (route: Route) =>
      route.fulfill({ status: 400, json: { error: { code: 'bad_request', message: 'Not now.' } } })
    await page.route(/branchesOf=/, fails)
    await askToDelete(page, 'Not half of me')
    const dialog = page.getByRole('dialog', { name: 'Delete this conversation?' })
    await dialog.getByText(/list of its versions could not be loaded\. Not now\./).waitFor()
    const remove = dialog.getByRole('button', { name: 'Delete', exact: true })
    expect(await remove.isDisabled()).toBe(true)
    await page.unroute(/branchesOf=/)
    await dialog.getByRole('button', { name: 'Retry' }).click()
    await dialog.getByText(/in all 2 versions/).waitFor()
    // It fails again when the deletion checks for new versions.
    await page.route(/branchesOf=/, fails)
    await remove.click()
    await dialog.getByRole('alert').getByText('Not now.').waitFor()
    expect(await ids('Not half of me')).toHaveLength(2)
  })

  it('removes a conversation that another tab deletes, without reloading the list', async () => {
    const page = await workbench.open()
    const id = await start(page, 'Soon gone')
    const other = await workbench.open(`/c/${id}`)
    await list(other).getByRole('link', { name: 'Soon gone' }).waitFor()
    await messageBox(other).waitFor()
    await other.route(/\/api\/conversations(\?.*)?$/, () => {})
    await askToDelete(page, 'Soon gone')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await list(other).getByRole('link', { name: 'Soon gone' }).waitFor({ state: 'detached' })
    await other
      .getByText(/was deleted/)
      .first()
      .waitFor()
    expect(await messageBox(other).count()).toBe(0)
  })
})
