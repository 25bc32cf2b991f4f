import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { createAgent } from '../src/agent/agent.ts'
import { createAssets } from '../src/assets/create-assets.ts'
import { demoAgent } from './demo-agent.ts'
import { demoModel } from './demo-model.ts'
import { FURTHER, QUESTIONS, type Question } from './fixtures/questions.ts'

/** Returns the last answer to a question about a file. */
async function ask(table: string, question: string): Promise<string> {
  const assets = createAssets()
  const agent = createAgent({
    name: 'demo',
    ...demoAgent,
    model: demoModel({ delayMs: 0 }),
    assets,
  })
  const file = await readFile(new URL(`fixtures/${table}`, import.meta.url))
  const imported = await assets.importFile(file, { name: table })
  const attachments = [{ assetRef: imported.table?.ref ?? '' }]
  const messages = [{ role: 'user' as const, content: question, metadata: { attachments } }]
  const { text } = await agent.run({ conversation: 'c', messages }).result
  await agent.close()
  return text
}

const isRefusal = (text: string): boolean => text.startsWith('I cannot answer that, because ')

/** Whether an answer contains a number or a word by itself: `5` is not in `15`. */
function states(text: string, fact: string): boolean {
  const plain = text.replace(/(?<=\d),(?=\d{3})/g, '')
  const quoted = fact.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\d.\\p{L}-])${quoted}(?![\\d\\p{L}])(?!\\.\\d)`, 'u').test(plain)
}

async function isRight({ table, question, answer }: Question): Promise<string> {
  const text = await ask(table, question)
  if (isRefusal(text)) return 'refused'
  return answer?.every((fact) => states(text, fact)) ? 'right' : text
}

describe('the demo model', () => {
  it.each([
    ['sixty questions about ten tables', QUESTIONS],
    ['twenty further questions', FURTHER],
  ])(
    'answers %s correctly, or declines',
    async (_, questions) => {
      const outcomes: string[] = []
      const wrong: Record<string, string> = {}
      for (const question of questions) {
        const outcome = await isRight(question)
        outcomes.push(outcome)
        if (!['right', 'refused'].includes(outcome)) wrong[question.question] = outcome
      }
      expect(wrong).toEqual({})
      expect(outcomes.filter((outcome) => outcome === 'right').length).toBeGreaterThanOrEqual(
        questions.length / 2,
      )
    },
    60_000,
  )

  it('proposes only questions that it answers', async () => {
    let proposed = 0
    const refusals: string[] = []
    for (const { table, question } of [...QUESTIONS, ...FURTHER]) {
      const text = await ask(table, question)
      if (!isRefusal(text)) continue
      const proposals = [...text.matchAll(/^- “(.+)”$/gm)].map(([, found = '']) => found)
      expect(`${question}: ${new Set(proposals).size}`).toBe(`${question}: 3`)
      for (const proposal of proposals) {
        const answer = await ask(table, proposal)
        proposed++
        if (isRefusal(answer) || /failed/.test(answer)) refusals.push(`${proposal}: ${answer}`)
      }
    }
    expect(refusals).toEqual([])
    expect(proposed).toBeGreaterThan(50)
  }, 60_000)
})
