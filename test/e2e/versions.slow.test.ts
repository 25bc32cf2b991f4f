import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Edit } from '../../src/assets/edit/edit.ts'
import { type Client, createClient } from '../../src/client/index.ts'
import { createAgent, createAssets } from '../../src/index.ts'
import type { ModelAnswer } from '../../src/models/answer-stream.ts'
import { createServer } from '../../src/server/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { hasBrowser, openBrowser } from './browser.ts'

/** The edit that the model makes when a message names it. */
interface PlannedEdit {
  ref: string
  edits: Edit[]
  _outputPath?: string
}

const LINES = Array.from({ length: 400 }, (_, at) => `Day ${at + 1}: ${(at * 7) % 13} mm`)
const REPORT = `# Rain\n\n${LINES.join('\n')}\n`
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40"><rect width="80" height="40" fill="#cc2222"/></svg>'

describe.skipIf(!hasBrowser)('versions in the workbench', () => {
  const planned = new Map<string, PlannedEdit>()
  const assets = createAssets()
  const agent = createAgent({
    name: 'editor',
    assets,
    tools: ['edit_asset'],
    model: scriptedModel(Array.from({ length: 200 }, () => answer)),
  })
  const server = createServer({ agents: { editor: agent } })
  const contexts: BrowserContext[] = []
  let browser: Browser
  let url: string
  let client: Client
  let stop = async () => {}

  function answer({ prompt }: LanguageModelV4CallOptions): ModelAnswer | string {
    const said = prompt.map(({ content }) => JSON.stringify(content))
    const asked = said.findLastIndex((text) => /Please edit|Go on/.test(text))
    const [, name = 'nothing'] = /Please edit (\w+)/.exec(said[asked] ?? '') ?? []
    const edit = planned.get(name)
    const isDone = prompt.slice(asked).some(({ role }) => role === 'tool')
    if (isDone || !edit) return `It is done: ${name}.`
    return { calls: [{ name: 'edit_asset', arguments: { ...edit } }] }
  }

  beforeAll(async () => {
    const listening = await server.listen({ port: 0, graceMs: 100 })
    url = listening.url
    stop = () => listening.close()
    client = createClient({ baseUrl: url })
    browser = await openBrowser()
  })
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
  })
  afterAll(async () => {
    await browser?.close()
    await stop()
  })

  async function upload(text: string, name: string, type: string): Promise<string> {
    const { asset, table } = await client.upload(new File([text], name, { type }))
    return (table ?? asset).ref
  }

  /** Sends a message and waits for the answer. Returns the conversation. */
  async function say(content: string, conversation?: string): Promise<string> {
    const id = conversation ?? (await client.createConversation()).id
    const { messages: before = 0 } = (await client.conversationSummary(id)) ?? {}
    await client.send(id, { content })
    await expect
      .poll(async () => {
        const { status, messages = 0 } = (await client.conversationSummary(id)) ?? {}
        return status === 'idle' && messages >= before + 4
      })
      .toBe(true)
    return id
  }

  /** Lets the agent make an edit, and returns the reference of the new version. */
  async function edit(name: string, plan: PlannedEdit, conversation?: string) {
    planned.set(name, plan)
    const id = await say(`Please edit ${name}.`, conversation)
    const versions = await client.versions(plan.ref)
    return { id, versions, ref: versions.at(-1)?.ref ?? '' }
  }

  async function open(path: string, options = {}): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      ...options,
    })
    contexts.push(context)
    const page = await context.newPage()
    page.on('pageerror', (error) => {
      throw error
    })
    await page.goto(url + path)
    return page
  }

  async function violations(page: Page): Promise<unknown[]> {
    const found = await new AxeBuilder({ page }).setLegacyMode().analyze()
    return found.violations.map(({ id, nodes }) => [id, nodes[0]?.html])
  }

  const idOf = (ref: string) => ref.replace('asset://', '')
  const dialog = (page: Page): Locator => page.getByRole('dialog', { name: /^Versions of/ })
  const list = (page: Page): Locator => page.getByRole('list', { name: 'Versions' })

  /** Returns the content of a saved value. */
  async function savedValue(conversation: string, kind: string): Promise<unknown> {
    const entries = await client.data(conversation)
    return entries.find((entry) => entry.kind === kind)?.data
  }

  it('compare a text, and undo, redo and restore it in the saved value that names it', async () => {
    const ref = await upload(REPORT, 'rain.md', 'text/markdown')
    const first = await edit('one', {
      ref,
      edits: [{ find: 'Day 200: 2 mm', replace: 'Day 200: 20 mm' }],
      _outputPath: '†state.report',
    })
    const second = await edit(
      'two',
      {
        ref: first.ref,
        edits: [{ find: 'Day 300: 0 mm\n', replace: '' }],
        _outputPath: '†state.report',
      },
      first.id,
    )
    const page = await open(`/c/${first.id}`)
    await page
      .getByRole('button', { name: /Edit asset/ })
      .first()
      .click()
    await page.getByRole('link', { name: 'Compare rain.md' }).click()
    await dialog(page).getByRole('insertion').filter({ hasText: 'Day 200: 20 mm' }).waitFor()
    expect(await dialog(page).getByRole('deletion').allTextContents()).toEqual(['Day 200: 2 mm'])
    expect(await dialog(page).locator('strong').allTextContents()).toEqual(['2', '20'])
    expect(await dialog(page).getByText('Day 100:').count()).toBe(0)
    expect(await violations(page)).toEqual([])

    // By keyboard only: unfolds, selects another version, and closes.
    const unfold = dialog(page)
      .getByRole('button', { name: /unchanged lines/ })
      .first()
    await unfold.focus()
    await page.keyboard.press('Enter')
    await dialog(page).getByText('Day 100:').first().waitFor()
    await dialog(page).getByLabel('After', { exact: true }).selectOption({ index: 0 })
    await dialog(page).getByRole('deletion').filter({ hasText: 'Day 300: 0 mm' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog(page).waitFor({ state: 'detached' })

    await page.goto(`${url}/c/${first.id}?tab=assets&asset=${idOf(second.ref)}`)
    await list(page).getByText('†state.report').waitFor()
    const shown = () => list(page).locator('li[aria-current]').innerText()
    expect(await shown()).toContain('Version 3')
    expect(await list(page).getByRole('link', { name: 'Go to call' }).count()).toBe(2)
    const report = async () => (await savedValue(first.id, 'state')) as { report: object }
    const size = (await client.asset(first.ref))?.asset.size
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('†state.report is now version 2 of rain.md.').waitFor()
    await expect.poll(shown).toContain('Version 2')
    expect((await report()).report).toMatchObject({ assetRef: first.ref, size, changes: 1 })
    await page.getByRole('button', { name: 'Redo' }).click()
    await page.getByText('†state.report is now version 3 of rain.md.').waitFor()
    expect((await report()).report).toMatchObject({ assetRef: second.ref })
    await page.getByRole('button', { name: 'Use this version (1)' }).click()
    await page.getByText('†state.report is now version 1 of rain.md.').waitFor()
    expect((await report()).report).toMatchObject({ assetRef: ref })
    await expect.poll(shown).toContain('Version 1')
    expect(await page.getByRole('button', { name: 'Undo' }).isDisabled()).toBe(true)
    expect(await client.versions(ref)).toHaveLength(3)
    expect(await violations(page)).toEqual([])
  })

  it('compare JSON, and attach a version that no saved value names', async () => {
    const ref = await upload(
      '{\n  "port": 80,\n  "host": "a"\n}\n',
      'settings.json',
      'application/json',
    )
    const { id, ref: edited } = await edit('json', {
      ref,
      edits: [{ op: 'replace', path: '/port', value: 8080 }],
    })
    const page = await open(`/c/${id}?tab=assets&asset=${idOf(edited)}`)
    await list(page).getByRole('link', { name: 'Compare version 2 with the one before' }).click()
    await dialog(page).getByRole('insertion').waitFor()
    expect(await dialog(page).locator('strong').allTextContents()).toEqual(['80', '8080'])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(/Your next message includes version 1 of settings.json/).waitFor()
    const files = page.getByRole('list', { name: 'Files to send' })
    await files.getByText('settings.json').waitFor()
    await page.getByRole('button', { name: 'Redo' }).click()
    await page.getByText(/Your next message includes version 2/).waitFor()
    // Another version replaces the first one.
    await expect.poll(() => files.getByRole('listitem').count()).toBe(1)
    await page.getByRole('textbox', { name: 'Message' }).fill('Go on with this one.')
    await page.keyboard.press('Enter')
    await page.getByText('It is done: nothing.').waitFor()
    const { messages } = await client.messages(id)
    const sent = messages.find(({ message }) => message.content === 'Go on with this one.')
    expect(sent?.message.metadata.attachments).toMatchObject([{ assetRef: edited }])
  })

  it('compare the rows of a table', async () => {
    const ref = await upload('city,rain\nRom,1\nOslo,2\nBern,3\n', 'rain.csv', 'text/csv')
    const { id, ref: edited } = await edit('table', {
      ref,
      edits: [{ sql: "SELECT * FROM rows WHERE city <> 'Bern' UNION ALL SELECT 'Wien', 4" }],
    })
    const page = await open(`/c/${id}?compare=${idOf(edited)}`)
    const removed = dialog(page).getByRole('table', { name: 'Removed rows' })
    const added = dialog(page).getByRole('table', { name: 'Added rows' })
    await added.waitFor()
    expect(await removed.getByRole('cell').allInnerTexts()).toEqual(['−', 'Bern', '3'])
    expect(await added.getByRole('cell').allInnerTexts()).toEqual(['+', 'Wien', '4'])
    expect(await violations(page)).toEqual([])
  })

  it('compare two pictures, and the text of an SVG, on a phone', async () => {
    const ref = await upload(SVG, 'box.svg', 'image/svg+xml')
    const { id, ref: edited } = await edit('picture', {
      ref,
      edits: [{ find: '#cc2222', replace: '#2222cc' }],
    })
    const page = await open(`/c/${id}?compare=${idOf(edited)}`, {
      viewport: { width: 360, height: 760 },
    })
    await dialog(page).getByRole('img', { name: 'After: box.svg' }).waitFor()
    const sources = await dialog(page)
      .getByRole('img')
      .evaluateAll((all) => all.map((one) => (one as unknown as { src: string }).src))
    expect(sources.map((src) => src.includes(idOf(edited)))).toEqual([false, true])
    await dialog(page).locator('strong').nth(1).waitFor()
    expect(await dialog(page).locator('strong').allTextContents()).toEqual(['cc2222', '2222cc'])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    expect(await violations(page)).toEqual([])
  })

  it('are listed on the page of the asset, and used in a new conversation', async () => {
    const ref = await upload('one\n', 'note.txt', 'text/plain')
    const { ref: edited } = await edit('note', { ref, edits: [{ find: 'one', replace: 'two' }] })
    const page = await open(`/assets/${idOf(edited)}`)
    await list(page).getByRole('link', { name: 'Compare version 2 with the one before' }).click()
    await dialog(page).getByRole('deletion').waitFor()
    await page.keyboard.press('Escape')
    await list(page)
      .getByRole('link', { name: 'Use this version (1) in a new conversation' })
      .click()
    await page.getByRole('list', { name: 'Files to send' }).getByText('note.txt').waitFor()
  })

  it('are as they were then after a rewind', async () => {
    const ref = await upload('one\n', 'plan.txt', 'text/plain')
    const first = await edit('early', {
      ref,
      edits: [{ find: 'one', replace: 'two' }],
      _outputPath: '†state.plan',
    })
    const second = await edit(
      'late',
      { ref: first.ref, edits: [{ find: 'two', replace: 'three' }], _outputPath: '†state.plan' },
      first.id,
    )
    const page = await open(`/c/${first.id}`)
    const early = page.getByRole('article', { name: /It is done: early/ })
    await early.hover()
    await early.getByRole('button', { name: 'Message actions' }).click()
    await page.getByRole('menuitem', { name: /^Rewind to here/ }).click()
    await page.waitForURL((to) => /\/c\//.test(to.pathname) && !to.pathname.endsWith(first.id))
    const rewound = new URL(page.url()).pathname.replace('/c/', '')
    await page.getByText('It is done: early.').waitFor()
    expect(await page.getByText('Please edit late.').count()).toBe(0)
    expect(await savedValue(rewound, 'state')).toMatchObject({ plan: { assetRef: first.ref } })
    expect(await savedValue(first.id, 'state')).toMatchObject({ plan: { assetRef: second.ref } })
    // The list marks the version that the saved value names here.
    await page.goto(`${url}/c/${rewound}?tab=assets&asset=${idOf(first.ref)}`)
    await list(page).locator('li[aria-current]').getByText('†state.plan').waitFor()
  })
})
