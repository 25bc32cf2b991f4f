import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { createAgent } from '../src/agent/agent.ts'
import type { Agent } from '../src/agent/agent-contract.ts'
import { createAssets } from '../src/assets/create-assets.ts'
import { demoQuestions, tableQuestions } from '../src/core/messages/table-questions.ts'
import { demoAgent } from './demo-agent.ts'
import { demoModel } from './demo-model.ts'

const INVOICES = new URL('../web/public/samples/invoices.csv', import.meta.url)
const FIXTURES = new URL('fixtures/', import.meta.url)

let agent: Agent | null = null

afterEach(() => agent?.close())

/** A conversation with a file: its table, and a function that asks about it. */
async function conversationOn(file: URL | Blob, name: string) {
  const assets = createAssets()
  const created = createAgent({
    name: 'demo',
    ...demoAgent,
    model: demoModel({ delayMs: 0 }),
    assets,
  })
  agent = created
  const body = file instanceof URL ? await readFile(file) : file
  const { table, asset } = await assets.importFile(body, { name })
  const { ref } = table ?? asset
  let isFirst = true
  return {
    agent: created,
    columns: table ? (await assets.rows(ref)).columns : [],
    async ask(content: string) {
      const metadata = isFirst ? { attachments: [{ assetRef: ref }] } : {}
      isFirst = false
      return created.run({ conversation: 'c', messages: [{ role: 'user', content, metadata }] })
        .result
    },
  }
}

/** Returns the questions that a declined answer suggests. */
const proposalsIn = (text: string): string[] =>
  [...text.matchAll(/^- “(.+)”$/gm)].map(([, question = '']) => question)

async function eventsOf({ log }: Agent) {
  return (await log.read('c', { limit: 1000 })).map(({ event }) => event)
}

/** Resolves to the call that waits for a person. */
async function waitingCall(agent: Agent) {
  const read = async () => (await agent.conversation('c'))?.waiting[0]
  await expect.poll(read).toBeDefined()
  return (await read()) as NonNullable<Awaited<ReturnType<typeof read>>>
}

const TABLES = readdirSync(FIXTURES).filter((name) => name.endsWith('.csv'))

describe('suggested questions', () => {
  it.each(TABLES)('are answered: %s', async (name) => {
    const { columns, ask } = await conversationOn(new URL(name, FIXTURES), name)
    const [, failure = ''] = demoQuestions(columns)
    const questions = [...tableQuestions(columns), failure]
    expect(questions.length).toBeGreaterThan(1)
    for (const question of questions) {
      const { text, reason } = await ask(question)
      expect(`${question}: ${text}`).not.toMatch(/I cannot answer|^The call|demo model/)
      expect(reason).toBe('done')
    }
  })

  it('are about the columns of the bundled file', async () => {
    const { columns } = await conversationOn(INVOICES, 'invoices.csv')
    expect([...tableQuestions(columns), ...demoQuestions(columns)]).toEqual([
      'Chart the total Amount by Supplier',
      'Chart the total Amount by month',
      'Average Amount by City',
      'Highest Amount',
      'Send a report of the total Amount by Supplier',
      'Demo: a failing call and its recovery',
    ])
  })
})

describe('the bundled file', () => {
  it('leads to an approval that a person can edit, and to a report in the conversation', async () => {
    const { agent, ask } = await conversationOn(INVOICES, 'invoices.csv')
    const answer = ask('Send a report of the total Amount by Supplier')
    const call = await waitingCall(agent)
    expect(call.toolName).toBe('send_report')
    const edited = { ...(call.arguments as object), subject: 'Suppliers, for Ada' }
    await agent.approve('c', call.toolCallId, { approved: true, arguments: edited })
    expect((await answer).text).toMatch(
      /“Suppliers, for Ada” .* has 8 lines.*this demo sends nothing/,
    )
  })

  it('takes the recipient of a report from the question, and says first that nothing is really sent', async () => {
    const { agent, ask } = await conversationOn(INVOICES, 'invoices.csv')
    const answer = ask('Send a report of the total Amount by Supplier to anna@example.com')
    const call = await waitingCall(agent)
    expect(call.arguments).toMatchObject({ to: 'anna@example.com', subject: 'Amount by Supplier' })
    expect(call.reason).toMatch(/^This demo sends nothing\..*into this conversation/)
    await agent.approve('c', call.toolCallId, { approved: true })
    expect((await answer).text).toContain('“Amount by Supplier” for anna@example.com has 8 lines')
  })

  it('proposes an address if a report has no recipient', async () => {
    const { agent, ask } = await conversationOn(INVOICES, 'invoices.csv')
    const answer = ask('Send a report of the total Amount by Supplier')
    const call = await waitingCall(agent)
    expect(call.arguments).toMatchObject({ to: 'team@example.com' })
    await agent.approve('c', call.toolCallId, { approved: false })
    await answer
  })

  it('proposes a report of groups if rows are asked for', async () => {
    const { agent, ask } = await conversationOn(INVOICES, 'invoices.csv')
    const { text } = await ask('Send a report of the invoices of Ferro & Sons to anna@example.com')
    expect(text).toMatch(/^I cannot answer that, because a report lists one number for each group/)
    const [proposal = ''] = proposalsIn(text)
    expect(proposal).toBe(
      'send a report of the total Amount by City of Ferro & Sons to anna@example.com',
    )
    const answer = ask(proposal)
    const call = await waitingCall(agent)
    expect(call.arguments).toMatchObject({ to: 'anna@example.com' })
    await agent.approve('c', call.toolCallId, { approved: true })
    expect((await answer).text).toContain('for anna@example.com has 1 lines')
  })

  it.each([
    ['Ferro & Sons', 'it names Ferro & Sons, but not what'],
    ['Amount', 'it names Amount, but not what'],
    ['How much did Ferro & Sons sell in total?', '“sell” is not a column or a cell'],
    ['total Amount as a chart', 'I know its words, but not what they ask together'],
  ])('says what it did not understand, and suggests other questions: %s', async (question, why) => {
    const { ask } = await conversationOn(INVOICES, 'invoices.csv')
    const { text } = await ask(question)
    expect(text).toContain(`I cannot answer that, because ${why}`)
    const isOfCell = question.includes('Ferro')
    expect(proposalsIn(text)).toEqual(
      isOfCell
        ? ['total Amount of Ferro & Sons', 'chart Amount by City', 'rows of Ferro & Sons']
        : ['total Amount', 'chart Amount by Supplier', 'highest Amount'],
    )
  })

  it('says that a denied report was not sent', async () => {
    const { agent, ask } = await conversationOn(INVOICES, 'invoices.csv')
    const answer = ask('Send a report of the total Amount by Supplier')
    const call = await waitingCall(agent)
    await agent.approve('c', call.toolCallId, { approved: false, reason: 'too early' })
    expect((await answer).text).toMatch(/^The report was not sent\. .*too early/)
  })

  it('leads to a call that fails, and is corrected', async () => {
    const { agent, ask } = await conversationOn(INVOICES, 'invoices.csv')
    const { text } = await ask('Show me a call that fails, and its correction')
    expect(text).toMatch(/\*\* with Amount 4,026\.58/)
    expect(text).toContain('The first call failed')
    const messages = (await agent.conversation('c'))?.messages ?? []
    const results = messages.flatMap(({ metadata }) => metadata?.tool_result ?? [])
    expect(results).toHaveLength(2)
    expect(results.map((result) => result.error?.code)).toEqual(['invalid_arguments', undefined])
  })

  it('answers a second question from the data of the first', async () => {
    const { agent, ask } = await conversationOn(INVOICES, 'invoices.csv')
    await ask('Chart the total Amount by month')
    const { text } = await ask('and which month had the highest total amount?')
    expect(text).toContain('`†state.month_sum_amount.rows`')
    const names = (await eventsOf(agent)).flatMap((event) =>
      event.type === 'TOOL_CALL_END' ? [event.call.name] : [],
    )
    expect(names).toEqual(['chart_rows', 'rank_rows'])
  })

  it('says how many rows a chart leaves out', async () => {
    const { ask } = await conversationOn(INVOICES, 'invoices.csv')
    const { text } = await ask('Chart the total Amount by Supplier')
    expect(text).toContain('1 of 69 rows are left out: 1 row has no Amount.')
  })

  it('does not claim that words can change a call', async () => {
    const { ask } = await conversationOn(INVOICES, 'invoices.csv')
    const { text } = await ask('make B2 100 instead')
    expect(text).toMatch(/^I changed nothing/)
  })
})

describe('the questions of the workbench guide', () => {
  it.each([
    ['total Amount', 'The total Amount is'],
    ['average Amount by City', 'Turin'],
    ['chart Amount by month', '2025-12'],
    ['average Amount by year', '2025'],
    ['Amount over time', '2025-12'],
    ['highest Amount', '4,026.58'],
    ['top 3 suppliers by Amount', 'Ferro & Sons'],
    ['best month by Amount', 'total Amount of each month'],
    ['which City has the highest average Amount?', 'Turin'],
    ['which Supplier has the most rows?', 'number of rows of each Supplier'],
    ['how many rows by City?', 'Hamburg'],
    ['how many Suppliers?', '8'],
    ['how many values are missing in Amount?', '1'],
    ['share of Amount by City', '%'],
    ['what share of the rows is Travel?', '%'],
    ['what are the distinct Cities?', 'Bergen'],
    ['first 5 rows', 'R-1005'],
    ['rows from Hamburg', 'Paperline'],
    ['what columns are there?', 'Category (string)'],
    ['summarize the table', '69 rows'],
    ['total Amount in Hamburg', 'City is Hamburg'],
    ['how many rows where Amount is above 100', 'of 69'],
    ['average Amount in March 2025', 'Issued is in 2025-03'],
    ['how many rows are not Paid', 'Paid is false'],
    ['How much Amount in Hamburg?', 'The total Amount where City is Hamburg'],
    ['how much Amount in total?', 'The total Amount is'],
    ['How much Amount each month?', '2025-12'],
    ['Show me Amount per City as a bar chart', '![Sum of Amount by City]'],
    ['Can you please chart the Amount for every City', '![Sum of Amount by City]'],
    ['I would like to see the average Amount of each City as a chart', '![Mean of Amount by City]'],
    ['make a bar chart of Amount by City please', '![Sum of Amount by City]'],
  ])('are answered: %s', async (question, fact) => {
    const { ask } = await conversationOn(INVOICES, 'invoices.csv')
    const { text } = await ask(question)
    expect(text).not.toMatch(/^I cannot answer/)
    expect(text).toContain(fact)
  })
})

describe('a question that invites a wrong answer', () => {
  it.each([
    ['names a cell that is also a word', 'budget.csv', 'total sum in IT'],
    ['adds up prices', 'second-lager.csv', 'How much Verkaufspreis in Halle A?'],
    ['adds up prices of groups', 'second-lager.csv', 'How much Verkaufspreis by Lagerort?'],
    ['asks for a chart of one number', 'budget.csv', 'total sum as a chart'],
  ])('is declined: it %s', async (_, name, question) => {
    const { ask } = await conversationOn(new URL(name, FIXTURES), name)
    expect((await ask(question)).text).toMatch(/^I cannot answer that/)
  })
})

describe('questions about other files', () => {
  const PIXEL =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

  it('get the type, size and origin of a picture, not what it shows', async () => {
    const picture = new Blob([Buffer.from(PIXEL, 'base64')], { type: 'image/png' })
    const { ask } = await conversationOn(picture, 'pixel.png')
    expect((await ask('What kind of file is the picture?')).text).toContain('image/png')
    expect((await ask('How large is the picture?')).text).toContain('70 bytes')
    expect((await ask('Who made the picture?')).text).toContain('attached to this conversation')
    for (const question of ['What is in the picture?', 'Is the dog in the picture large?']) {
      expect((await ask(question)).text).toMatch(/^I cannot answer that/)
    }
  })

  it('get the length of a text, not what it means', async () => {
    const note = new Blob(['hello there\nline two'], { type: 'text/plain' })
    const { ask } = await conversationOn(note, 'note.txt')
    expect((await ask('How many words does the text have?')).text).toContain('4 words')
    expect((await ask('Summarize the text')).text).toMatch(/^I cannot answer that/)
  })
})
