// node --conditions=byref-source bench/workbench/open.ts [messages] [json] [assets] [rows]: the cost of large content
// in the workbench, in a browser with the real server.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { openBrowser } from '../../test/e2e/browser.ts'
import { serve, temporaryFolder } from '../../test/e2e/byref-process.ts'
import { printMachine } from '../content/measure.ts'
import { firstPaint, namedPaint, rounds, watchedPage } from './page.ts'

const AT = '2026-01-01T12:00:00.000Z'
const data = temporaryFolder()
const server = await serve(data.path)
const browser = await openBrowser()

async function importOf(id: string, events: object[], debug: object[] = []): Promise<void> {
  const head = { byref: 'conversation', version: 1, id, title: id, createdAt: AT, updatedAt: AT }
  const records = events.map((event, i) => ({ v: 1, position: i + 1, timestamp: AT, event }))
  const body = [head, ...records, ...debug, { byref: 'end' }]
    .map((line) => JSON.stringify(line))
    .join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  const answer = await fetch(`${server.url}/api/conversations/import?id=${id}`, {
    method: 'POST',
    headers,
    body,
  })
  if (!answer.ok) throw new Error(await answer.text())
}

function message(id: string, change: object = {}): object {
  const sender = { participant_id: 'bot', participant_role: 'assistant' }
  const usual = {
    sender,
    message_type: 'chat',
    content_type: 'text/markdown',
    timestamp: AT,
    metadata: {},
  }
  return {
    type: 'NEW_MESSAGE',
    payload: { id, ...usual, content: `Message **${id}** of many.`, ...change },
  }
}

async function manyMessages(): Promise<void> {
  await importOf(
    'many',
    Array.from({ length: 10_000 }, (_, i) => message(`n${i}`)),
  )
  const paints: string[] = []
  const target = await rounds(7, async () => {
    const { page } = await watchedPage(browser)
    await page.goto(`${server.url}/c/many#m-n0`)
    const took = await namedPaint(page)
    paints.push(`${await firstPaint(page)}`)
    await page.context().close()
    return took
  })
  console.log(
    `10,000 messages by deep link to the first: first paint ${paints.sort((a, b) => +a - +b)[3]} ms (goal 400), the message ${target} ms (goal 800)`,
  )
  const { page, longestTask } = await watchedPage(browser)
  await page.goto(`${server.url}/c/many#m-n5000`)
  await page.locator('#m-n5000').waitFor()
  await longestTask()
  await page
    .getByRole('textbox', { name: 'Message' })
    .pressSequentially('typing into a long conversation', { delay: 20 })
  console.log(`  typing: longest task ${await longestTask()} ms (goal 50; 0 is under 50)`)
  await page.locator('[data-scroller]').hover()
  for (let i = 0; i < 60; i++) await page.mouse.wheel(0, i % 20 < 10 ? 400 : -300)
  console.log(`  scrolling: longest task ${await longestTask()} ms (goal 50)`)
  await page.context().close()
}

async function largeJson(): Promise<void> {
  const rows = Array.from({ length: 30_000 }, (_, i) => ({
    id: i,
    city: `City ${i}`,
    note: 'x'.repeat(100),
    deep: { value: [i, i + 1] },
  }))
  const value = { rows }
  const metadata = { has_debug_data: true }
  await importOf(
    'large',
    [
      message('d', { metadata }),
      message('j', { content_type: 'application/json', content: value }),
    ],
    [{ debug: 'd', value }],
  )
  const call = { id: 'call_1', type: 'function', function: { name: 'cities', arguments: '{}' } }
  await importOf('result', [
    message('c', { content: 'Reading the cities.', metadata: { tool_calls: [call] } }),
    message('r', {
      content_type: 'application/json',
      content: value,
      metadata: { tool_result: { tool_call_id: 'call_1' } },
    }),
  ])
  console.log(`${(JSON.stringify(value).length / 1e6).toFixed(1)} MB of JSON (goal 200 ms a task):`)
  const asMessage = await rounds(5, () => opened('/c/large#m-j', '#m-j'))
  console.log(`  as a message: longest task ${asMessage} ms`)
  const asResult = await rounds(5, () => opened('/c/result#call-call_1', '#call-call_1'))
  console.log(`  as the result of a call: longest task ${asResult} ms`)
  const { page, longestTask } = await watchedPage(browser)
  await page.goto(`${server.url}/c/result#call-call_1`)
  await page.locator('#call-call_1').waitFor()
  await longestTask()
  await page.getByRole('textbox', { name: 'Message' }).pressSequentially('typing', { delay: 20 })
  await page.locator('[data-scroller]').hover()
  for (let i = 0; i < 20; i++) await page.mouse.wheel(0, i < 10 ? 400 : -300)
  console.log(`  typing and scrolling beside it: longest task ${await longestTask()} ms`)
  await page.goto(`${server.url}/c/large?debug=/#m-d`)
  const dialog = page.getByRole('dialog', { name: 'Debug' })
  await dialog.getByRole('tree').waitFor()
  console.log(`  as debug data: opened ${await longestTask()} ms`)
  await dialog.getByRole('button', { name: 'Expand all' }).click()
  console.log(`  all expanded ${await longestTask()} ms`)
  await dialog.getByRole('searchbox').fill('City 29999')
  await dialog.getByText('1 hit', { exact: true }).waitFor()
  console.log(`  searched ${await longestTask()} ms`)
  await page.context().close()
}

/** Opens a URL in a fresh page. Returns the longest task until the named content is drawn. */
async function opened(path: string, named: string): Promise<number> {
  const { page, longestTask } = await watchedPage(browser)
  await page.goto(`${server.url}${path}`)
  await page.locator(named).getByRole('tree').first().waitFor()
  const took = await longestTask()
  await page.context().close()
  return took
}

async function manyAssets(): Promise<void> {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  )
  const events: object[] = []
  for (let i = 0; i < 1_000; i++) {
    const isPicture = i % 2 === 0
    const body = isPicture ? Buffer.concat([png, Buffer.from([i & 255, i >> 8])]) : `file ${i}`
    const answer = await fetch(`${server.url}/api/assets?name=a${i}.${isPicture ? 'png' : 'txt'}`, {
      method: 'POST',
      body,
    })
    const { asset } = (await answer.json()) as {
      asset: { assetId: string; ref: string; mime: string; kind: string; size: number }
    }
    const { assetId, ref, mime, kind, size } = asset
    events.push({
      type: 'ASSET_CREATED',
      payload: { assetId, ref, mime, kind, size, by: 'tool', name: `a${i}` },
    })
  }
  await importOf('assets', [...events, message('m')])
  const { page, longestTask, requests } = await watchedPage(browser)
  await page.goto(`${server.url}/c/assets?tab=data`)
  await page.locator('#m-m').waitFor()
  await longestTask()
  requests()
  await page.getByRole('tab', { name: 'Files' }).click()
  await page.getByRole('list', { name: 'Files' }).waitFor()
  console.log(
    `1,000 assets: longest task ${await longestTask()} ms, ${requests()} requests (goal 60)`,
  )
  await page.context().close()
}

async function manyRows(): Promise<void> {
  const file = join(data.path, 'rows.csv')
  const handle = await open(file, 'w')
  await handle.write('n,city,value\n')
  for (let i = 0; i < 400; i++) {
    await handle.write(
      Array.from({ length: 10_000 }, (_, j) => `${i * 10_000 + j},City ${j % 97},${j * 3}\n`).join(
        '',
      ),
    )
  }
  await handle.close()
  const body = Readable.toWeb(createReadStream(file))
  const answer = await fetch(`${server.url}/api/assets?name=rows.csv`, {
    method: 'POST',
    body: body as never,
    duplex: 'half',
  } as RequestInit)
  const { table } = (await answer.json()) as { table: { assetId: string; table: { rows: number } } }
  const { page, longestTask } = await watchedPage(browser)
  await page.goto(`${server.url}/assets/${table.assetId}`)
  const grid = page.getByRole('table', { name: 'Rows' })
  await grid.getByText('City 1', { exact: true }).first().waitFor()
  await longestTask()
  const scroll = async (to: string): Promise<number> => {
    const start = performance.now()
    await grid.evaluate(
      `(table) => { const box = table.parentElement.parentElement; box.scrollTop = ${to} }`,
    )
    await page.waitForFunction(
      `![...document.querySelectorAll('tbody td')].some((cell) => cell.textContent === '·')`,
    )
    return performance.now() - start
  }
  const places = [
    'box.scrollHeight / 2',
    'box.scrollHeight',
    '0',
    'box.scrollHeight / 3',
    'box.scrollHeight / 1.5',
  ]
  let place = 0
  const jumps = await rounds(5, () => scroll(places[place++] as string))
  console.log(
    `${table.table.rows.toLocaleString('en')} rows: a jump shows its rows after ${jumps} ms, longest task ${await longestTask()} ms`,
  )
  await page.context().close()
}

printMachine('The workbench with large things')
const parts = { messages: manyMessages, json: largeJson, assets: manyAssets, rows: manyRows }
const wanted = process.argv.slice(2)
try {
  for (const [name, measure] of Object.entries(parts)) {
    if (wanted.length === 0 || wanted.includes(name)) await measure()
  }
} finally {
  await browser.close()
  await server.stop()
  data.remove()
}
