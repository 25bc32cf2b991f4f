import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
} from '@ai-sdk/provider'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAgent, defineTool } from '../../../src/index.ts'
import type { ModelAnswer } from '../../../src/models/answer-stream.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { hasBrowser } from '../browser.ts'
import { type OpenWorkbench, say, thread, workbenchOf } from './open-workbench.ts'

/** Waiting work that a test releases, by name. */
const gates = new Map<string, PromiseWithResolvers<void>>()

function gate(name: string): PromiseWithResolvers<void> {
  const known = gates.get(name) ?? Promise.withResolvers<void>()
  gates.set(name, known)
  return known
}

const wait = defineTool({
  id: 'wait_for',
  description: 'Waits for something',
  inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
  async execute({ what }) {
    await gate(String(what)).promise
    return `${what} is over`
  },
})

const look = defineTool({
  id: 'look_at_page',
  description: 'Looks at a page',
  inputSchema: { type: 'object', properties: { page: { type: 'number' } } },
  execute: ({ page }) => `Page ${page} is empty.`,
})

/** Does what the last message of a person requests. */
async function answer({ prompt }: LanguageModelV4CallOptions): Promise<ModelAnswer | string> {
  const asked = prompt.findLastIndex(({ role }) => role === 'user')
  const said = JSON.stringify(prompt[asked])
  const done = prompt.slice(asked).filter(({ role }) => role === 'tool').length
  if (said.includes('think')) await gate('thinking').promise
  if (said.includes('parallel') && done === 0) {
    const calls = ['first', 'second'].map((what) => ({ name: 'wait_for', arguments: { what } }))
    return { text: 'I will wait for both.', calls }
  }
  if (said.includes('wait') && done === 0) {
    return { text: 'I will wait.', calls: [{ name: 'wait_for', arguments: { what: 'one' } }] }
  }
  if (said.includes('all pages') && done < 25) {
    return { calls: [{ name: 'look_at_page', arguments: { page: done + 1 } }] }
  }
  return `Answered after ${done}.`
}

/** Number of times that the provider reports that it is busy. */
let busy = 0

/** A model that stops in the middle of an answer, or is busy, on request. */
function unreliableModel(): LanguageModelV4 {
  const model = scriptedModel(answer)
  return {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    doGenerate: (options) => model.doGenerate(options),
    async doStream(options) {
      const said = JSON.stringify(options.prompt.at(-1))
      if (said.includes('be busy') && busy-- > 0) {
        throw new APICallError({
          message: 'Too many requests',
          url: 'https://model.example',
          requestBodyValues: {},
          statusCode: 429,
          responseHeaders: { 'retry-after': '2' },
          isRetryable: true,
        })
      }
      if (!said.includes('break off')) return model.doStream(options)
      return {
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: 'text-start', id: 't' })
            controller.enqueue({ type: 'text-delta', id: 't', delta: 'The first half ' })
          },
          async pull(controller) {
            await gate('breaking').promise
            controller.error(new Error('The line is dead'))
          },
        }),
      }
    },
  }
}

describe.skipIf(!hasBrowser)('a run', () => {
  let workbench: OpenWorkbench

  beforeAll(async () => {
    const model = unreliableModel()
    workbench = await workbenchOf(
      createAgent({
        name: 'planner',
        model,
        tools: [wait, look],
        retry: { maxRetries: 1 },
        limits: { steps: 40 },
      }),
    )
  })
  beforeEach(() => gates.clear())
  afterEach(async () => {
    for (const { resolve } of gates.values()) resolve()
    await workbench.closePages()
  })
  afterAll(() => workbench?.close())

  const cards = (page: Page) => thread(page).getByRole('article', { name: 'Call of wait_for' })

  it('shows each of several concurrent calls as one card with its own end and result', async () => {
    const page = await workbench.open()
    await say(page, 'Two in parallel')
    await expect.poll(() => cards(page).getByText('running').count()).toBe(2)
    gate('second').resolve()
    const [first, second] = [cards(page).nth(0), cards(page).nth(1)]
    // Results are logged in the order of the answer.
    await second.getByText('finishing').waitFor()
    await first.getByText('running').waitFor()
    gate('first').resolve()
    await thread(page).getByText('Answered after 1.').waitFor()
    await thread(page)
      .getByRole('button', { name: /2 calls/ })
      .click()
    await first.getByText('first is over').waitFor()
    expect(await cards(page).count()).toBe(2)
    expect(await first.getByText(/is over/).count()).toBe(1)
    expect(await second.innerText()).toMatch(/second is over/)
    expect(
      await thread(page)
        .getByRole('article', { name: /^Result/ })
        .count(),
    ).toBe(0)
  })

  it('gives each call its own end on the time axis', async () => {
    const page = await workbench.open('/')
    await say(page, 'Two in parallel')
    await page.getByRole('tab', { name: 'Run' }).click()
    const bars = page.getByRole('article', { name: 'Run 1' }).getByRole('listitem')
    const calls = bars.filter({ hasText: 'wait_for' })
    await expect.poll(() => calls.count()).toBe(2)
    gate('second').resolve()
    await cards(page).nth(1).getByText('finishing').waitFor()
    gate('first').resolve()
    await thread(page).getByText('Answered after 1.').waitFor()
    const ends = async () =>
      (await calls.allTextContents()).map((text) =>
        Number(/to ([\d,]+) milliseconds/.exec(text)?.[1]?.replaceAll(',', '')),
      )
    await expect.poll(async () => (await ends()).every(Number.isFinite)).toBe(true)
    const [first = 0, second = 0] = await ends()
    expect(second).toBeLessThan(first)
  })

  it('folds 25 equal steps into one line, which expands to all of them', async () => {
    const page = await workbench.open()
    await say(page, 'Look at all pages')
    await thread(page).getByText('Answered after 25.').waitFor()
    const line = thread(page).getByRole('button', { name: /25 steps · 25 calls/ })
    await line.waitFor()
    expect(
      await thread(page)
        .getByRole('button', { name: /1 call/ })
        .count(),
    ).toBe(0)
    await line.click()
    await expect
      .poll(() =>
        thread(page)
          .getByRole('button', { name: /1 call/ })
          .count(),
      )
      .toBe(25)
  })

  it('keeps the name of the agent and the heading of a step, while it runs and when it is expanded', async () => {
    const page = await workbench.open()
    const names = () =>
      thread(page)
        .getByText(/^(planner|Assistant|Agent|Bot)$/)
        .allTextContents()
    await say(page, 'think and wait')
    await thread(page).getByText('Thinking…').waitFor()
    const before = await names()
    expect(before).toHaveLength(1)
    gate('thinking').resolve()
    await cards(page).getByText('running').waitFor()
    const step = thread(page).getByRole('button', { name: /1 call/ })
    const heading = step.locator('span.truncate').first()
    expect(await heading.innerText()).toBe('Wait')
    gate('one').resolve()
    await thread(page).getByText('Answered after 1.').waitFor()
    expect(await names()).toEqual(before)
    await expect.poll(() => step.getAttribute('aria-expanded')).toBe('false')
    expect(await heading.innerText()).toBe('Wait')
    await step.click()
    expect(await heading.innerText()).toBe('Wait')
  })

  it('reports that an answer was cut off, keeps it, and offers a retry', async () => {
    const page = await workbench.open()
    await say(page, 'Please break off')
    await thread(page).getByText('The first half').waitFor()
    gate('breaking').resolve()
    await thread(page)
      .getByText(/The answer broke off: the model’s provider failed/)
      .waitFor()
    await thread(page).getByText('The first half').waitFor()
    expect(
      await thread(page)
        .getByText(/did not answer/)
        .count(),
    ).toBe(0)
    await thread(page).getByRole('button', { name: 'Try again' }).waitFor()
  })

  it('shows why it waits while the provider is busy, and then answers', async () => {
    busy = 1
    const page = await workbench.open()
    await say(page, 'Please be busy')
    await thread(page)
      .getByText(/The provider is busy \(429\)\. Trying again in/)
      .waitFor()
    await thread(page).getByText('Answered after 0.').waitFor()
  })

  it('shows how long it has been waiting for the model', async () => {
    const page = await workbench.open()
    await page.clock.install()
    await page.reload()
    await say(page, 'think')
    await thread(page).getByText('Thinking…').waitFor()
    await page.clock.fastForward(15_000)
    await thread(page)
      .getByText(/Thinking… 1\d s/)
      .waitFor()
    gate('thinking').resolve()
    await thread(page).getByText('Answered after 0.').waitFor()
  })

  it('is shown again by itself after the server could not be reached', async () => {
    await workbench.importMessages('back-again', { content: 'Hello.' })
    const page = await workbench.open()
    let isAway = true
    await page.route('**/api/conversations?*', (route) =>
      isAway ? route.abort() : route.continue(),
    )
    await page.reload()
    const list = page.getByRole('navigation', { name: 'Conversations' })
    await list.getByText(/The list could not be loaded/).waitFor()
    isAway = false
    await list.getByText(/The list could not be loaded/).waitFor({ state: 'detached' })
    await list.getByRole('link', { name: 'back-again' }).waitFor()
  })
})
