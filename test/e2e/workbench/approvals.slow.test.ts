import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAgent, defineTool } from '../../../src/index.ts'
import type { ModelAnswer } from '../../../src/models/answer-stream.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { hasBrowser } from '../browser.ts'
import { messageBox, type OpenWorkbench, say, thread, workbenchOf } from './open-workbench.ts'

// Approvals, and messages that are sent while a call waits.

/** The sums that were paid. */
const paid: number[] = []

const pay = defineTool({
  id: 'pay',
  description: 'Pays a sum',
  inputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
  needsApproval: true,
  execute({ sum }) {
    paid.push(Number(sum))
    return `${sum} paid`
  },
})

/** Pays the number in the newest message, and otherwise says what happened to the call. */
function answer({ prompt }: LanguageModelV4CallOptions): ModelAnswer | string {
  const last = prompt.at(-1)
  if (last?.role !== 'user') return 'The call is over.'
  const sum = /\d+/.exec(JSON.stringify(last.content.at(-1)))?.[0]
  return { text: 'I will pay.', calls: [{ name: 'pay', arguments: { sum: Number(sum) } }] }
}

describe.skipIf(!hasBrowser)('a call that waits for a person', () => {
  let workbench: OpenWorkbench

  beforeAll(async () => {
    workbench = await workbenchOf(createAgent({ model: scriptedModel(answer), tools: [pay] }))
  })
  beforeEach(() => {
    paid.length = 0
  })
  afterEach(() => workbench.closePages())
  afterAll(() => workbench?.close())

  /** The form of a call in its step. The card moves there when the answer is complete. */
  const approvalOf = (page: Page) =>
    thread(page)
      .getByRole('article', { name: 'Step: Pay' })
      .getByRole('form', { name: 'Approval of pay' })

  async function askToPay(width = 1440): Promise<Page> {
    const page = await workbench.open('/', { viewport: { width, height: 800 } })
    await say(page, 'Pay 120')
    await approvalOf(page).waitFor()
    return page
  }

  it('is denied by a new message, which is answered at once', async () => {
    const page = await askToPay()
    await say(page, 'make it 100 instead')
    const queued = thread(page).getByText('Answered after your decision')
    await queued.waitFor()
    await page.getByRole('button', { name: 'Deny and send' }).click()
    await queued.waitFor({ state: 'detached' })
    await thread(page).getByText('make it 100 instead').first().waitFor()
    const approval = approvalOf(page)
    await approval.getByText('100', { exact: true }).waitFor()
    expect(paid).toEqual([])
    await approval.getByRole('button', { name: 'Approve' }).click()
    await thread(page).getByText('The call is over.').waitFor()
    expect(paid).toEqual([100])
  })

  it('makes a message wait until the decision, and shows that', async () => {
    const page = await askToPay()
    await messageBox(page).fill('and then 7')
    await page.getByText(/Answered after your decision\. To change the call/).waitFor()
    expect(await page.getByRole('button', { name: 'Add now' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await thread(page).getByText('Answered after your decision').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    const approval = approvalOf(page)
    await approval.getByText('7', { exact: true }).waitFor()
    expect(paid).toEqual([120])
    // One answer to both: the run accepted the message before it ended.
    expect(await thread(page).getByText('The call is over.').count()).toBe(0)
  })

  it('runs with the arguments that a person changed, and shows the change', async () => {
    const page = await askToPay()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('sum').fill('90')
    await page.getByRole('button', { name: 'Approve these arguments' }).click()
    await thread(page).getByText('The call is over.').waitFor()
    expect(paid).toEqual([90])
    await thread(page)
      .getByRole('button', { name: /1 call/ })
      .click()
    const card = thread(page).getByRole('article', { name: 'Call of pay' })
    await card.getByText(/Approved by you/).waitFor()
    await card.getByText('sum 120 → 90').waitFor()
  })

  it('shows who approved or denied it, and a denied call is no failure', async () => {
    const page = await askToPay()
    await page.getByRole('textbox', { name: /Reason for denying/ }).fill('Too much')
    await page.getByRole('button', { name: 'Deny', exact: true }).click()
    await thread(page).getByText('The call is over.').waitFor()
    const step = thread(page).getByRole('button', { name: /1 call/ })
    if ((await step.getAttribute('aria-expanded')) === 'false') await step.click()
    const card = thread(page).getByRole('article', { name: 'Call of pay' })
    await card.getByText(/Denied by you .*: Too much/).waitFor()
    expect(await card.innerText()).not.toMatch(/failed|approval_denied/)
    expect(paid).toEqual([])
  })

  it('has space for the reason on a phone', async () => {
    const page = await askToPay(360)
    const reason = page.getByRole('textbox', { name: /Reason for denying/ })
    const hidden = await reason.evaluate((element) => {
      const field = element as unknown as {
        value: string
        scrollWidth: number
        clientWidth: number
      }
      field.value = 'Why not? (optional)'
      return field.scrollWidth - field.clientWidth
    })
    expect(hidden).toBe(0)
    const { x = -1, width = 0 } = (await reason.boundingBox()) ?? {}
    expect(x).toBeGreaterThanOrEqual(0)
    expect(x + width).toBeLessThanOrEqual(360)
  })
})
