import { readFile } from 'node:fs/promises'
import { demoAgent } from '../../demo/demo-agent.ts'
import { demoModel } from '../../demo/demo-model.ts'
import { createAgent } from '../../src/agent/agent.ts'
import type { Sample } from './sample.ts'

const FILE = new URL('../../node_modules/vega-datasets/data/seattle-weather.csv', import.meta.url)

const QUESTIONS = [
  'Chart the monthly precipitation',
  'Which month was the wettest?',
  'Chart the average temp_max by weather',
]

/** A table by reference: charts of its rows, and a question that is answered with the summary of the first chart. */
export const weather: Sample = {
  name: 'weather',
  title: 'Four years of weather',
  description:
    'A table of 1,461 rows is charted and asked; the model never sees more than three of them.',
  async make({ log, assets, attach }, conversation) {
    const agent = createAgent({ ...demoAgent, model: demoModel(), log, assets })
    const { table } = await attach('seattle-weather.csv', await readFile(FILE))
    const attachments = [{ assetRef: table as string }]
    for (const [place, content] of QUESTIONS.entries()) {
      const metadata = place === 0 ? { attachments } : {}
      await agent.run({ conversation, messages: [{ role: 'user', content, metadata }] }).result
    }
  },
}
