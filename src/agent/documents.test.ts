import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { docx, paragraph, tableOf } from '../assets/documents/fixtures/docx.ts'
import { sheetRows, workbook } from '../assets/tables/fixtures/spreadsheet.ts'
import { defineTool } from '../boundary/tool.ts'
import { pagedPdf } from '../prompt/fixtures/bodies.ts'
import { type ScriptedModel, type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { prompts } from './fixtures/agent.ts'

type Fields = Record<string, unknown>

/** The next action of a model: a call, or its final text. */
type Next = [tool: string, input: Fields] | string

/** The last result of a tool. */
function lastResult({ prompt }: LanguageModelV4CallOptions): Fields {
  const message = prompt.findLast(({ role }) => role === 'tool')
  const part = (message?.content as { output?: { value: unknown } }[] | undefined)?.at(-1)
  const value = part?.output?.value ?? {}
  if (typeof value !== 'string') return value as Fields
  const [json] = /^\{.*\}$/m.exec(value) ?? []
  return json === undefined ? { said: value } : (JSON.parse(json) as Fields)
}

/** A model that calls tools until it has its answer. Each turn sees the last result and the prompt. */
function reader(next: (last: Fields, shown: string) => Next): ScriptedModel {
  const turn: ScriptedTurn = (options) => {
    const asked = next(lastResult(options), JSON.stringify(options.prompt))
    if (typeof asked === 'string') return asked
    return { calls: [{ name: asked[0], arguments: asked[1] }] }
  }
  return scriptedModel(new Array(100).fill(turn))
}

const about = (assetRef: string, content = 'Read it') => [
  { role: 'user' as const, content, metadata: { attachments: [{ assetRef }] } },
]

describe('a model that has only the native tools', () => {
  it('reads a PDF of 300 pages to the end, from where its prompt was cut', async () => {
    const read = new Set<string>()
    const note = (text: string): void => {
      for (const [, page] of text.matchAll(/This is page (\d+)\./g)) read.add(String(page))
    }
    const model = reader((last, shown) => {
      if (last.text === undefined) {
        note(shown)
        const [, ref, page] = /Read on with fetch_asset \(ref: (\S+), page: (\d+)/.exec(shown) ?? []
        return ['fetch_asset', { ref, page: Number(page) }]
      }
      note(String(last.text))
      if (last.nextPage === undefined) return `${last.pages} pages`
      return ['fetch_asset', { ref: last.assetRef, page: last.nextPage }]
    })
    const agent = createAgent({ model })
    const { ref } = await agent.assets.save(pagedPdf(300, 10), 'application/pdf')
    expect((await agent.run({ messages: about(ref) }).result).text).toBe('300 pages')
    expect(read.size).toBe(300)
    // A page of text adds no second copy of the file.
    expect(prompts(model).at(-1)).not.toContain('same file as above')
    const tools = model.requests[0]?.tools?.map(({ name }) => name)
    expect(tools).toEqual(['fetch_asset', 'search_asset', 'query_tables'])
  })

  it('queries the last of 40 sheets, named in the meta of the workbook', async () => {
    const sheets = Array.from({ length: 40 }, (_, i): [string, Buffer] => {
      const rows = Array.from({ length: 20 }, (_, row) => [`city ${row}`, row * (i + 1)])
      return [`Year ${i + 1}`, sheetRows([['city', 'sum'], ...rows])]
    })
    const model = reader((last, shown) => {
      if (last.rows !== undefined) return JSON.stringify(last.rows)
      const [, table] = /Each sheet is a table: (asset:\S+)<number>/.exec(shown) ?? []
      const [, number] = /sheets\/Year 40\\*": (\d+)/.exec(shown) ?? []
      const sql = `select sum(sum) as n, count(*) as rows from "${table}${number}"`
      return number === undefined ? 'Not named' : ['query_tables', { sql }]
    })
    const agent = createAgent({ model, tools: ['query_tables'] })
    const name = 'years.xlsx'
    const { workbook: book, table } = await agent.assets.importFile(
      workbook(Object.fromEntries(sheets)),
      { name },
    )
    expect([book?.name, table?.name]).toEqual([name, 'years.xlsx/Year 1'])
    const { text } = await agent.run({ messages: about(book?.ref ?? '') }).result
    expect(text).toBe('[{"n":7600,"rows":20}]')
  })

  it('queries a sheet of a file that was not imported', async () => {
    const file = workbook({
      Costs: sheetRows([['n'], [1]]),
      'More costs': sheetRows([['n'], [2], [3]]),
    })
    const asked: Fields[] = []
    const model = scriptedModel([
      { calls: [{ name: 'query_tables', arguments: { sql: 'select * from "asset://book"' } }] },
      ({ prompt }) => {
        const [, ref] = /More costs\\*" is (asset:[^\s."\\]+)/.exec(JSON.stringify(prompt)) ?? []
        return {
          calls: [{ name: 'query_tables', arguments: { sql: `select sum(n) as n from "${ref}"` } }],
        }
      },
      (options) => {
        asked.push(lastResult(options))
        return 'Done'
      },
    ])
    const agent = createAgent({ model, tools: ['query_tables'] })
    await agent.assets.save(file, null, { assetId: 'book', name: 'costs.xlsx' })
    await agent.run({ messages: about('asset://book') }).result
    expect(asked).toMatchObject([{ rows: [{ n: 5 }] }])
  })

  it('reads the last row of a large CSV, imported or not', async () => {
    const rows = 100_000
    const lines = Array.from({ length: rows }, (_, i) => `${i},city ${i}`)
    const csv = Buffer.from(`id,city\n${lines.join('\n')}\n`)
    const model = reader((last) => {
      if (last.text !== undefined) return `${last.lines}: ${last.text}`
      if (last.hits !== undefined) {
        const [{ line }] = last.hits as [{ line: number }]
        return ['fetch_asset', { ref: last.assetRef, startLine: line }]
      }
      if (last.rows !== undefined) return JSON.stringify(last.rows)
      const [[tool, input] = ['', {}]] = asked.splice(0, 1)
      return [tool, input]
    })
    const sql = 'select city from "asset://rows" order by id desc limit 1'
    const asked: [string, Fields][] = [
      ['search_asset', { ref: 'asset://rows', query: 'city 99999' }],
      ['query_tables', { sql }],
    ]
    const agent = createAgent({ model, tools: ['query_tables'] })
    await agent.assets.save(csv, 'text/csv', { assetId: 'rows', name: 'rows.csv' })
    const answers = []
    for (const conversation of ['a', 'b']) {
      answers.push((await agent.run({ conversation, messages: about('asset://rows') }).result).text)
    }
    expect(answers).toEqual(['100002: 99999,city 99999\n', '[{"city":"city 99999"}]'])
  })

  it('finds the last cell of a table in a DOCX, and passes its text to a tool', async () => {
    const rows = Array.from({ length: 2_000 }, (_, i) => [
      paragraph(`Item ${i}`),
      paragraph(`${i * 2}`),
    ])
    const file = docx(paragraph('Prices', 'Heading1') + tableOf(rows) + paragraph('The end'))
    const given: string[] = []
    const take = defineTool({
      id: 'take',
      description: 'Takes a text',
      inputSchema: {
        type: 'object',
        properties: { text: { type: 'string', asset_ref_acceptable: true } },
      },
      execute: ({ text }: { text: string }) => {
        given.push(text)
        return 'Taken'
      },
    })
    const model = reader((last) => {
      if (last.said === 'Taken') return 'Done'
      if (last.hits === undefined)
        return ['search_asset', { ref: 'asset://prices', query: 'Item 1999' }]
      const [{ line, text }] = last.hits as [{ line: number; text: string }]
      given.push(`${line}: ${text}`)
      return ['take', { text: last.assetRef }]
    })
    const agent = createAgent({ model, tools: [take] })
    await agent.assets.save(file, null, { assetId: 'prices', name: 'prices.docx' })
    await agent.run({ messages: about('asset://prices') }).result
    expect(given[0]).toBe('2002: | Item 1999 | 3998 |')
    expect(given[1]).toMatch(/^# Prices\n\n\| Item 0 \| 0 \|\n[\s\S]*\| 3998 \|\n\nThe end$/)
  })
})

it('learns from a prompt where the full text is, if it has no tools to read on', async () => {
  const model = scriptedModel(['Done'])
  const agent = createAgent({ model, reading: false })
  const { ref } = await agent.assets.save(pagedPdf(300, 10), 'application/pdf')
  await agent.run({ messages: about(ref) }).result
  expect(prompts(model)[0]).toMatch(/\[Cut: page \d+ of 300\. The whole text is asset:/)
})
