import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { renderContext } from '../src/core/board/render-context.ts'
import { metaLines, metasBlock } from '../src/core/messages/metas-block.ts'
import { demoAnswer } from './demo-rules.ts'

const TOOLS = new Set(['chart_rows', 'rank_rows'])

type Column = [name: string, type: string]

const user = (text: string): LanguageModelV4Prompt[0] => ({
  role: 'user',
  content: [{ type: 'text', text }],
})

/** A prompt as the agent makes it: question, data, metas. */
function prompt(question: string, columns: Column[] = [], state?: unknown): LanguageModelV4Prompt {
  const row = Object.fromEntries(columns.map(([name, type]) => [name, type === 'number' ? 1 : 'x']))
  const metas = metasBlock(
    columns.length === 0
      ? []
      : [
          metaLines({
            asset_id: 'table1',
            asset_name: 'table.csv',
            content_type: 'application/json',
            content: {
              columns: columns.map(([name, type]) => ({ name, type, missing: 0 })),
              rows: [row, row],
            },
          }),
        ],
  )
  const data = state === undefined ? [] : renderContext([{ type: 'state', state }])
  return [
    ...(metas ? [user(metas)] : []),
    ...data.map(({ content }) => user(content.text)),
    user(question),
  ]
}

const call = (...args: Parameters<typeof prompt>) => demoAnswer(prompt(...args), TOOLS).calls?.[0]

const WEATHER: Column[] = [
  ['date', 'date'],
  ['precipitation', 'number'],
  ['temp_max', 'number'],
  ['weather', 'text'],
]
const CARS: Column[] = [
  ['Name', 'text'],
  ['Miles_per_Gallon', 'number'],
  ['Horsepower', 'number'],
  ['Year', 'date'],
  ['Origin', 'text'],
]

const RENTALS: Column[] = [
  ['day', 'date'],
  ['city', 'text'],
  ['rentals', 'number'],
  ['price', 'number'],
]

describe('demoAnswer', () => {
  it.each([
    [
      'chart the monthly precipitation',
      WEATHER,
      { group_by: 'date', interval: 'month', value: 'precipitation', measure: 'sum' },
    ],
    [
      'plot the average temp max by year',
      WEATHER,
      { group_by: 'date', interval: 'year', value: 'temp_max', measure: 'mean' },
    ],
    [
      'draw the maximum precipitation per weather',
      WEATHER,
      { group_by: 'weather', value: 'precipitation', measure: 'max' },
    ],
    ['how many by weather?', WEATHER, { group_by: 'weather', measure: 'count' }],
    [
      'chart the mean miles per gallon by origin',
      CARS,
      { group_by: 'Origin', value: 'Miles_per_Gallon', measure: 'mean' },
    ],
    [
      'bar chart of total horsepower across origins',
      CARS,
      { group_by: 'Origin', value: 'Horsepower', measure: 'sum' },
    ],
  ] as [string, Column[], object][])(
    'charts the column that the question names: %s',
    (question, columns, expected) => {
      const made = call(question, columns)
      expect(made?.name).toBe('chart_rows')
      expect(made?.arguments).toMatchObject({ rows: 'asset://table1/content/rows', ...expected })
      const { rows, _outputPath, ...others } = made?.arguments ?? {}
      expect(Object.keys(others).sort()).toEqual(Object.keys(expected).sort())
    },
  )

  it('says so if no column has the answer', () => {
    for (const question of ['which driver had the most rentals?', 'which planet is the largest?']) {
      const [first] = demoAnswer(prompt(question, RENTALS), TOOLS).calls ?? []
      expect(first).toBe(undefined)
      expect(demoAnswer(prompt(question, RENTALS), TOOLS).text).toMatch(
        /^I cannot answer that, because “(driver|planet)” .*(rentals|price)”/s,
      )
    }
  })

  it('looks for an unknown word in the cells before it declines', () => {
    const tools = new Set([...TOOLS, 'find_values'])
    const question = 'how many rows are in Oslo?'
    const [look] = demoAnswer(prompt(question, RENTALS), tools).calls ?? []
    expect(look).toEqual({
      name: 'find_values',
      arguments: { rows: 'asset://table1/content/rows', question },
    })
  })

  it('does not claim that words can change a waiting call', () => {
    const { text, calls } = demoAnswer(prompt('make B2 100 instead', RENTALS), TOOLS)
    expect(calls).toBe(undefined)
    expect(text).toMatch(/^I changed nothing.*“Edit” on its card/)
  })

  it('writes each summary under its own name', () => {
    const state = { month_sum_precipitation: { rows: [{ month: 'x', precipitation: 1 }] } }
    const made = call('chart the monthly precipitation', WEATHER, state)
    expect(made?.arguments._outputPath).toBe('†state.month_sum_precipitation_2')
  })

  it('introduces itself if no rule applies', () => {
    expect(demoAnswer(prompt('hello'), TOOLS).text).toMatch(/demo model: a few rules, no AI/)
    expect(demoAnswer(prompt('hello', CARS), TOOLS).text).toMatch(/Miles_per_Gallon \(number\)/)
    expect(demoAnswer(prompt('chart it', CARS), new Set()).text).toMatch(/^I cannot answer that/)
  })
})
