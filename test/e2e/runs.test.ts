import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAgent, defineTool } from '../../src/index.ts'
import type { ModelAnswer } from '../../src/models/answer-stream.ts'
import { createServer, type Listening } from '../../src/server/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { hasBrowser, openBrowser } from './browser.ts'

const pay = defineTool({
  id: 'pay',
  description: 'Pays',
  inputSchema: { type: 'object', properties: {} },
  execute: () => 'paid',
})

/** Fails, spends money, or calls `pay`, as requested. */
function answer({ prompt }: LanguageModelV4CallOptions): ModelAnswer | Error {
  const asked = prompt.findLastIndex(({ role }) => role === 'user')
  const told = JSON.stringify(prompt[asked])
  const usage = { inputTokens: told.includes('Spend') ? 2_000_000 : 100, outputTokens: 10 }
  if (told.includes('Break')) return new Error('The provider is broken')
  const isDone = prompt.slice(asked).some(({ role }) => role === 'tool')
  if (told.includes('Pay') && !isDone) return { calls: [{ name: 'pay', arguments: {} }], usage }
  return { text: 'Done.', usage }
}

describe.skipIf(!hasBrowser)('the page of runs in a browser', () => {
  const agent = createAgent({
    name: 'clerk',
    tools: [pay],
    retry: { maxRetries: 0 },
    model: scriptedModel(answer),
    capabilities: { price: { input: 3, output: 15 } },
  })
  let browser: Browser
  let listening: Listening
  let page: Page

  beforeAll(async () => {
    listening = await createServer({ agent }).listen({ port: 0 })
    browser = await openBrowser()
    for (const messages of ['Break it', 'Spend a lot', 'Pay the bill']) {
      await agent.run({ conversation: messages.split(' ')[0], messages }).result.catch(() => {})
    }
    page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  })
  afterAll(async () => {
    await browser?.close()
    await listening?.close()
  })

  const titles = async () => {
    const headers = page.getByRole('region', { name: 'Runs' }).getByRole('rowheader')
    return (await headers.allTextContents()).map((text) => text.replace(/, started .*/, ''))
  }
  const shows = (expected: string[]) => expect.poll(titles).toEqual(expected)

  it('finds failed runs, expensive runs and runs that called a tool, and links to them', async () => {
    await page.goto(listening.url)
    await page.getByRole('link', { name: 'Runs and costs' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'Runs and costs' }).click()
    await shows(['Pay the bill', 'Spend a lot', 'Break it'])
    expect(await page.getByRole('table', { name: 'Cost per day' }).textContent()).toContain('$6.00')

    await page.getByLabel('Status').selectOption('Failed')
    await shows(['Break it'])
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await shows(['Pay the bill', 'Spend a lot', 'Break it'])

    await page.getByLabel('Tool').fill('pay')
    await shows(['Pay the bill'])
    await page.getByLabel('Tool').fill('')
    await page.getByLabel('Cost at least ($)').fill('0.5')
    await shows(['Spend a lot'])
    // The filters are in the URL, so that it can be shared.
    await page.reload()
    await shows(['Spend a lot'])

    await page
      .getByRole('link', { name: /^Spend a lot/ })
      .last()
      .click()
    const run = page.getByRole('article', { name: 'Run 1' })
    await run.locator('footer').getByText('$6.00').waitFor()
    await run.getByRole('link', { name: /step 1/ }).click()
    await page.getByRole('tab', { name: 'Prompt', selected: true }).waitFor()
    await page.goBack()
    await page.goBack()
    await shows(['Spend a lot'])
  })

  it('shows a run that ends while it is open', async () => {
    await page.goto(`${listening.url}/runs`)
    await shows(['Pay the bill', 'Spend a lot', 'Break it'])
    await agent.run({ conversation: 'Late', messages: 'Later' }).result
    await shows(['Later', 'Pay the bill', 'Spend a lot', 'Break it'])
  })
})
