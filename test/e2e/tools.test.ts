import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createAgent, defineTool, type Tool } from '../../src/index.ts'
import { createServer } from '../../src/server/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { hasBrowser, openBrowser } from './browser.ts'

const NOUNS = Array.from({ length: 50 }, (_, i) => `record${i}`)

/** 1,000 tools of five services. Deleting needs an approval. */
const tools = ['github', 'billing', 'crm', 'mail', 'wiki'].flatMap((service) =>
  NOUNS.flatMap((noun) =>
    ['list', 'create', 'update', 'delete'].map(
      (verb): Tool =>
        defineTool({
          id: `${service}_${verb}_${noun}`,
          description: `${verb}s one ${noun} of ${service}`,
          inputSchema: {
            type: 'object',
            properties: { key: { type: 'string', description: `The key of the ${noun}` } },
            required: ['key'],
          },
          readOnly: verb === 'list',
          needsApproval: verb === 'delete',
          execute: () => ({ done: true }),
        }) as Tool,
    ),
  ),
)
const call = (name: string, args: object) => ({ calls: [{ name, arguments: { ...args } }] })

describe.skipIf(!hasBrowser)('many tools in the workbench', () => {
  const model = scriptedModel([
    call('search_tools', { query: 'create record7', group: 'crm' }),
    call('call_tool', { name: 'crm_create_record7', arguments: { key: 'k' } }),
    'It is done.',
  ])
  const agent = createAgent({ name: 'office', model, tools })
  const server = createServer({
    agents: { office: agent },
    auth: {
      verify: (token) =>
        token === 'member' || token === 'reader'
          ? { subject: token, namespace: null, role: token }
          : null,
    },
  })
  const contexts: BrowserContext[] = []
  let browser: Browser
  let url: string
  let stop = async () => {}

  beforeAll(async () => {
    const listening = await server.listen({ port: 0, graceMs: 100 })
    url = listening.url
    stop = () => listening.close()
    await agent.run({ conversation: 'c', messages: 'Make record 7' }).result
    browser = await openBrowser()
  })
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
  })
  afterAll(async () => {
    await browser?.close()
    await stop()
  })

  async function open(path: string, role = 'member', width = 1440): Promise<Page> {
    const context = await browser.newContext({ viewport: { width, height: 900 } })
    contexts.push(context)
    await context.request.post(`${url}/api/session`, { data: { token: role } })
    const page = await context.newPage()
    await page.goto(url + path)
    return page
  }

  const lines = (page: Page, name: string) => page.getByRole('list', { name }).getByRole('listitem')

  it('link from a call to the search that found its tool, and from there to the tool', async () => {
    const page = await open('/c/c?tab=prompt')
    await page.getByText('Crm create record7').click()
    const made = page.getByRole('article', { name: 'Call of crm_create_record7' })
    await made.getByText('Called through call_tool.').waitFor()
    await made.getByRole('link', { name: /^Found by the search/ }).click()
    const search = page.getByRole('article', { name: 'Call of search_tools' })
    await search.waitFor()
    expect(new URL(page.url()).hash).toBe(`#${await search.getAttribute('id')}`)
    const searches = page.getByRole('list', { name: 'Searches before this step' })
    await searches.getByRole('link', { name: 'crm_create_record7', exact: true }).click()
    await page.getByText('The key of the record7', { exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.get('tool')).toBe('crm_create_record7')
  })

  it('are found as the model finds them, by keyboard only', async () => {
    const page = await open('/c/c?tab=tools')
    await expect.poll(() => lines(page, 'Tools').count()).toBeGreaterThan(50)
    expect(await lines(page, 'Tools').count()).toBeLessThan(400)
    await page.getByRole('searchbox', { name: 'Search tools as the model does' }).focus()
    await page.keyboard.type('erase record9 for martians')
    await page.getByText(/No tool has “martians”/).waitFor()
    const first = lines(page, 'What the model gets').first().getByRole('button')
    expect(await first.textContent()).toMatch(/_delete_record9.*Needs approval.*“erase”, “record9”/)
    expect(await lines(page, 'What the model gets').count()).toBe(5)
    await first.focus()
    await page.keyboard.press('Enter')
    await page.getByText('The key of the record9', { exact: true }).waitFor()
    await page.reload()
    await page.getByText('The key of the record9', { exact: true }).waitFor()
    const { violations } = await new AxeBuilder({ page }).include('[role=tabpanel]').analyze()
    expect(violations).toEqual([])
  })

  it('can be opened by a link, and only their tab scrolls', async () => {
    const page = await open('/c/c?tab=tools&tool=wiki_update_record40')
    await page.getByText('The key of the record40', { exact: true }).waitFor()
    const line = page.getByRole('button', { name: /^wiki_update_record40/ })
    await expect.poll(async () => (await line.boundingBox())?.y).toBeLessThan(200)
    expect(await page.evaluate('document.scrollingElement.scrollTop')).toBe(0)
    await page.getByRole('tab', { name: 'Tools' }).waitFor()
    expect((await page.getByRole('tab', { name: 'Tools' }).boundingBox())?.y).toBeLessThan(48)
  })

  it('are not shown to readers, who do not see prompts', async () => {
    const page = await open('/c/c?tab=tools', 'reader')
    await page.getByRole('tab', { name: 'Problems' }).waitFor()
    // The tab is there until the server has named the role.
    await expect.poll(() => page.getByRole('tab', { name: 'Tools' }).count()).toBe(0)
  })
})
