import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createAgent, defineTool } from '../../../src/index.ts'
import type { ModelAnswer } from '../../../src/models/answer-stream.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { hasBrowser } from '../browser.ts'
import { attach, type OpenWorkbench, say, thread, workbenchOf } from './open-workbench.ts'

const ROWS = Array.from({ length: 5_000 }, (_, i) => ({ month: i + 1, sold: 1_000_000 + i }))

const readSales = defineTool({
  id: 'read_sales',
  description: 'Reads all sales',
  inputSchema: { type: 'object', properties: {} },
  execute: () => ({ year: 2025, rows: ROWS }),
})

const countRows = defineTool({
  id: 'count_rows',
  description: 'Counts rows',
  inputSchema: { type: 'object', properties: { rows: { type: 'array' } } },
  execute: ({ rows }) => ({ counted: (rows as unknown[]).length }),
})

/** Reads a large value, passes a part of it on by reference, and embeds a value in its answer. */
function answer({ prompt }: LanguageModelV4CallOptions): ModelAnswer {
  const usage = { inputTokens: 1_200, outputTokens: 30 }
  const said = JSON.stringify(prompt)
  const call = (name: string, values: Record<string, string>): ModelAnswer => ({
    calls: [{ name, arguments: values }],
    usage,
  })
  if (!said.includes('Count the sales')) return { text: 'Hello.', usage }
  if (!said.includes('"toolName":"read_sales"')) {
    return call('read_sales', { _outputPath: '†state.sales' })
  }
  if (!said.includes('"toolName":"count_rows"')) {
    return call('count_rows', { rows: '†state.sales.rows', _outputPath: '†state.count' })
  }
  return { text: 'There are <|†state.count.counted|> rows. Done.', usage }
}

describe.skipIf(!hasBrowser)('values and files', () => {
  let workbench: OpenWorkbench

  beforeAll(async () => {
    const tools = [readSales, countRows]
    workbench = await workbenchOf(createAgent({ model: scriptedModel(answer), tools }))
  })
  afterEach(() => workbench.closePages())
  afterAll(() => workbench?.close())

  it('show a large value that was passed by reference, and never report it as missing', async () => {
    const page = await workbench.open()
    await say(page, 'Count the sales')
    await thread(page).getByText('There are 5000 rows. Done.').waitFor()
    const steps = thread(page).getByRole('button', { name: /1 call/ })
    for (const step of await steps.all()) await step.click()
    const card = thread(page).getByRole('article', { name: 'Call of count_rows' })
    await card.getByText('†state.sales.rows').first().hover()
    const value = page.getByText(/"sold":1000000/)
    await value.first().waitFor()
    await page.getByText(/stored in/).waitFor()
    expect(await page.getByText(/has no "rows"/).count()).toBe(0)
  })

  it('show what references saved below the answer, and the size of a file on its chip', async () => {
    const page = await workbench.open()
    await attach(page, 'prices.csv', `item,price\n${'tea,3\n'.repeat(400)}`)
    await page.getByText('400 rows × 2 columns').waitFor()
    await say(page, 'Count the sales')
    await thread(page).getByText('There are 5000 rows. Done.').waitFor()
    await thread(page)
      .getByText(/KB passed by reference · [\d,]+ tokens instead of about [\d,]+/)
      .waitFor()
    const chip = thread(page).getByRole('list', { name: 'Attachments' }).getByRole('link')
    await expect.poll(() => chip.innerText()).toMatch(/prices\.csv\s+400 rows × 2 columns/)
    const files = page.getByRole('tabpanel', { name: 'Files' })
    const line = files.getByRole('link', { name: /prices\.csv/ })
    await expect.poll(() => line.innerText()).toMatch(/Table/)
    expect(await files.innerText()).not.toMatch(/parquet/)
  })

  it('have the right type in the inspector if they are large', async () => {
    const page = await workbench.open()
    await say(page, 'Count the sales')
    await thread(page).getByText('There are 5000 rows. Done.').waitFor()
    await page.getByRole('tab', { name: 'Saved values' }).click()
    const saved = page.getByRole('article', { name: '†state', exact: true })
    await saved.getByText(/value, stored as a file/).waitFor()
    await saved.getByText(/2 changes/).waitFor()
    expect(await saved.innerText()).toMatch(/\bset\b/)
  })

  it('show the content of a malformed data message, and that it has no effect', async () => {
    await workbench.importMessages(
      'malformed',
      { content: 'Rain fell on 12 days' },
      { content_type: 'data', content: { type: 'data', kind: 'state', values: 'Fog in May' } },
      { content_type: 'data', content: { type: 'data', kind: 'state', data: { snow: 4 } } },
    )
    const page = await workbench.open()
    // This server rejects such a message, but another one may accept it.
    await page.route('**/api/conversations/malformed/events?*', async (route) => {
      const answer = await route.fetch()
      const text = (await answer.text()).replace('text/plain', 'data')
      await route.fulfill({ response: answer, body: text })
    })
    await page.goto(`${workbench.url}/c/malformed?tab=data`)
    await thread(page).getByText('Rain fell on 12 days').waitFor()
    await thread(page).getByText('Fog in May').waitFor()
    expect(await thread(page).getByText('Malformed data message').count()).toBe(2)
    expect(await thread(page).getByText('†data').count()).toBe(0)
    const inspector = page.getByRole('tabpanel', { name: 'Saved values' })
    await inspector.getByRole('article', { name: '†state' }).waitFor()
    expect(await inspector.getByRole('article').count()).toBe(1)
  })

  it('show the name of a damaged picture, that it cannot be shown, and a download', async () => {
    const page = await workbench.open()
    await attach(page, 'holiday.png', Buffer.from('89504e470d0a1a0a00', 'hex'))
    await page.getByRole('button', { name: 'Remove holiday.png' }).waitFor()
    await say(page, 'hello')
    const attached = thread(page).getByRole('list', { name: 'Attachments' })
    await attached.getByText('holiday.png').first().waitFor()
    await page.getByRole('tab', { name: 'Files' }).click()
    await page.getByRole('tabpanel').getByText('holiday.png').first().click()
    const notice = page.getByText(/This image cannot be shown\. The file is damaged/)
    await notice.waitFor()
    await page.getByRole('tabpanel').getByRole('heading', { name: 'holiday.png' }).waitFor()
  })

  it('report before sending that a JSON file is broken, and where', async () => {
    const page = await workbench.open()
    await attach(page, 'broken.json', '{\n  "a": 1,\n  "b": \n}')
    await page.getByRole('button', { name: 'Remove broken.json' }).waitFor()
    await say(page, 'hello')
    await thread(page).getByRole('list', { name: 'Attachments' }).getByText('broken.json').click()
    await page.getByText(/This is not valid JSON\. Line 4, column 1/).waitFor()
  })

  it('are never shown as the source text of an embedded reference', async () => {
    await workbench.importMessages(
      'embedded',
      {
        content_type: 'data',
        content: { type: 'data', kind: 'state', data: { chart: 'asset://gone', total: 1234.5 } },
      },
      { content: 'Total: <|†state.total|>.', content_type: 'text/markdown' },
      { content: 'Here: ![the chart](<|†state.chart|>)', content_type: 'text/markdown' },
    )
    const page = await workbench.open('/c/embedded')
    await thread(page).getByText('Total: 1234.5.').waitFor()
    await thread(page).getByText('Here:').waitFor()
    expect(await thread(page).innerText()).not.toMatch(/!\[|<\|/)
  })

  it('are tables with rows from 1, which SQL finds by the displayed name', async () => {
    const page = await workbench.open()
    await attach(page, 'towns.csv', 'town,people\nBonn,1\nKöln,2\n')
    await page.getByText('2 rows × 2 columns').waitFor()
    await say(page, 'hello')
    await page.getByRole('tabpanel', { name: 'Files' }).getByText('towns.csv').click()
    await page.getByRole('rowheader').first().waitFor()
    expect(await page.getByRole('rowheader').allTextContents()).toEqual(['1', '2'])
    expect(await page.getByRole('tabpanel').innerText()).not.toMatch(/vnd\.apache/)
    await page.getByRole('button', { name: 'SQL' }).click()
    const query = page.getByRole('form', { name: 'SQL' })
    await query.getByRole('textbox').fill('select * from towns')
    await query.getByRole('button', { name: 'Run' }).click()
    await query.getByText(/The tables of this query are "t"\./).waitFor()
    await query.getByRole('textbox').fill('select sum(people) as people from t')
    await query.getByRole('button', { name: 'Run' }).click()
    await query.getByRole('link', { name: 'open the result' }).click()
    await page.getByRole('cell', { name: '3', exact: true }).waitFor()
  })

  it('are links if a picture is on another site', async () => {
    const content = 'See ![the coast](https://pictures.invalid/coast.png).'
    await workbench.importMessages('outside', { content, content_type: 'text/markdown' })
    const page = await workbench.open()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).host))
    await page.goto(`${workbench.url}/c/outside`)
    const link = thread(page).getByRole('link', { name: /the coast/ })
    expect(await link.getAttribute('href')).toBe('https://pictures.invalid/coast.png')
    expect(await thread(page).getByRole('img').count()).toBe(0)
    expect(asked).not.toContain('pictures.invalid')
  })

  it('are not reported as missing while the server does not respond', async () => {
    await workbench.importMessages('away', { content: 'I am here.' })
    const page = await workbench.open()
    let isAway = true
    await page.route(/\/api\/conversations\/away/, (route) =>
      isAway ? route.abort() : route.continue(),
    )
    await page.goto(`${workbench.url}/c/away`)
    const panel = page.getByRole('tabpanel')
    await panel.getByText(/The server does not answer, so this is not loaded yet/).waitFor()
    for (const tab of ['Saved values', 'Run', 'Prompt', 'Message', 'Problems', 'Files']) {
      await page.getByRole('tab', { name: tab }).click()
      await panel.getByText(/The server does not answer, so this is not loaded yet/).waitFor()
      expect(await panel.innerText()).not.toMatch(/No .* yet|Nothing/)
    }
    isAway = false
    await thread(page).getByText('I am here.').waitFor()
    await panel.getByText('No files yet').waitFor()
  })
})
