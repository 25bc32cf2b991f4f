import { describe, expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import type { Edit } from '../assets/edit/edit.ts'
import { defineTool } from '../boundary/tool.ts'
import { type ContentInput, toMessage } from '../core/messages/to-message.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import type { Agent, AgentOptions } from './agent-contract.ts'
import { prompts, say } from './fixtures/agent.ts'

interface EditCall {
  ref: unknown
  edits: readonly Edit[]
  [parameter: string]: unknown
}

const replaced = (ref: unknown, find: string, replace: string): EditCall => ({
  ref,
  edits: [{ find, replace }],
})

/** An agent whose model makes these calls of edit_asset, each list in one answer. */
function editor(turns: readonly EditCall[][], options: Partial<AgentOptions> = {}) {
  const assets = createAssets()
  const model = scriptedModel([
    ...turns.map((calls) => ({
      calls: calls.map((args) => ({ name: 'edit_asset', arguments: { ...args } })),
    })),
    'Done',
  ])
  const agent = createAgent({ model, tools: ['edit_asset'], assets, ...options })
  const start = (data: Record<string, unknown> = {}) =>
    agent.run({
      conversation: 'c',
      messages: [
        ...Object.entries(data).map(([kind, value]) => ({ type: 'data', kind, data: value })),
        ...say('Edit it'),
      ] as ContentInput[],
    })
  const read = async (name: string) => (await agent.conversation('c'))?.board.read(name)
  return { agent, assets, model, start, read }
}

/** The results of calls, as they are in the log. */
async function resultsOf(agent: Agent): Promise<Record<string, unknown>[]> {
  const { messages = [] } = (await agent.conversation('c')) ?? {}
  return messages
    .filter(({ metadata }) => metadata.tool_result)
    .map(({ content, metadata }) => Object(metadata.tool_result?.error ?? content))
}

async function textOf(assets: ReturnType<typeof createAssets>, ref: unknown): Promise<unknown> {
  return assets.resolve(String(ref))
}

describe('edit_asset on a † path', () => {
  it('edits a text in place', async () => {
    const { start, read, model } = editor([[replaced('†draft.text', 'world', 'moon')]])
    await start({ draft: { text: 'Hello world', other: 1 } }).result
    expect(await read('†draft')).toEqual({ text: 'Hello moon', other: 1 })
    expect(prompts(model).at(-1)).toContain('+Hello moon')
  })

  it('edits data by JSON Patch', async () => {
    const edits: Edit[] = [
      { op: 'replace', path: '/server/port', value: 8080 },
      { op: 'add', path: '/tags/-', value: 'new' },
    ]
    const { start, read, agent } = editor([[{ ref: '†settings', edits }]])
    await start({ settings: { server: { port: 80 }, tags: [] } }).result
    expect(await read('†settings')).toEqual({ server: { port: 8080 }, tags: ['new'] })
    expect(await resultsOf(agent)).toMatchObject([
      { written_to: ['†settings'], changes: 2, diff: '/server/port\n/tags/-' },
    ])
  })

  it('writes the reference of the new version where the path has a reference', async () => {
    const { start, read, assets } = editor([
      [replaced('†draft', 'one', 'two')],
      [replaced('†file.report', 'one', 'three')],
    ])
    const { ref } = await assets.save(Buffer.from('one'), 'text/plain', { name: 'a.txt' })
    const file = { assetRef: ref, mimeType: 'text/plain', kind: 'file', size: 3, name: 'a.txt' }
    await start({ draft: ref, file: { report: file } }).result
    expect(await textOf(assets, await read('†draft'))).toBe('two')
    const report = (await read('†file.report')) as typeof file
    expect(report).toEqual({ ...file, assetRef: report.assetRef, size: 5 })
    expect(await textOf(assets, report.assetRef)).toBe('three')
    expect((await assets.info(report.assetRef)).previous).toBe(ref)
    expect(await textOf(assets, ref)).toBe('one')
  })

  it('edits a field of a large value, which is stored as an asset', async () => {
    const pages = Array.from({ length: 3000 }, (_, i) => ({ title: `Page ${i}`, text: 'text' }))
    const book = defineTool({
      id: 'book',
      description: 'Returns a book',
      inputSchema: { type: 'object' },
      outputPath: '†book',
      execute: () => ({ pages }),
    })
    const model = scriptedModel([
      { calls: [{ name: 'book', arguments: {} }] },
      {
        calls: [
          {
            name: 'edit_asset',
            arguments: { ...replaced('†book.pages[2000].title', '2000', 'two thousand') },
          },
        ],
      },
      'Done',
    ])
    const assets = createAssets()
    const agent = createAgent({ model, tools: [book, 'edit_asset'], assets })
    await agent.run({ conversation: 'c', messages: say('Edit it') }).result
    const kept = (await agent.conversation('c'))?.board.read('†book') as { assetRef: string }
    const changed = pages.with(2000, { title: 'Page two thousand', text: 'text' })
    expect(await assets.resolve(kept.assetRef)).toEqual({ pages: changed })
    expect(kept).toMatchObject({ offloaded: true, size: JSON.stringify({ pages: changed }).length })
    expect(prompts(model).at(-1)?.length).toBeLessThan(12_000)
  })

  it('edits the lines of a large text, which is stored as JSON', async () => {
    const lines = Array.from({ length: 4000 }, (_, i) => `Line "${i}"`)
    const page = defineTool({
      id: 'page',
      description: 'Returns a page',
      inputSchema: { type: 'object' },
      outputPath: '†page',
      execute: () => lines.join('\n'),
    })
    const model = scriptedModel([
      { calls: [{ name: 'page', arguments: {} }] },
      {
        calls: [
          {
            name: 'edit_asset',
            arguments: { ...replaced('†page', 'Line "5"\nLine "6"', '"5"\n"6"') },
          },
        ],
      },
      'Done',
    ])
    const assets = createAssets()
    const agent = createAgent({ model, tools: [page, 'edit_asset'], assets })
    await agent.run({ conversation: 'c', messages: say('Edit it') }).result
    const kept = (await agent.conversation('c'))?.board.read('†page') as { assetRef: string }
    const changed = lines.with(5, '"5"').with(6, '"6"')
    expect(await assets.resolve(`${kept.assetRef}/content`)).toBe(changed.join('\n'))
  })

  it('edits a table by SQL, and shows no old rows beside the new reference', async () => {
    const assets = createAssets()
    const csv = await assets.save(Buffer.from('a,b\n1,2\n3,4\n5,6\n'), 'text/csv')
    const model = scriptedModel([
      {
        calls: [
          {
            name: 'query_tables',
            arguments: { sql: 'select * from t', tables: { t: csv.ref }, _outputPath: '†sums' },
          },
        ],
      },
      {
        calls: [
          {
            name: 'edit_asset',
            arguments: { ref: '†sums', edits: [{ sql: 'select a from rows where a > 1' }] },
          },
        ],
      },
      'Done',
    ])
    const agent = createAgent({ model, tools: ['query_tables', 'edit_asset'], assets })
    await agent.run({ conversation: 'c', messages: say('Edit it') }).result
    const sums = (await agent.conversation('c'))?.board.read('†sums') as { assetRef: string }
    expect(sums).toEqual({ assetRef: sums.assetRef, rowCount: 2 })
    expect(await assets.resolve(`${sums.assetRef}/content/rows`)).toEqual([{ a: 3 }, { a: 5 }])
  })

  it('keeps the value when the edit is rejected, and says what is there', async () => {
    const { start, read, agent } = editor([[replaced('†draft', 'moon', 'sun')]])
    await start({ draft: 'Hello world' }).result
    expect(await read('†draft')).toBe('Hello world')
    expect(await resultsOf(agent)).toMatchObject([{ code: 'edit_rejected' }])
  })

  it('writes to another path when the call names one', async () => {
    const { start, read, assets } = editor([
      [{ ...replaced('†draft', 'one', 'two'), _outputPath: '†copy' }],
    ])
    const { ref } = await assets.save(Buffer.from('one'), 'text/plain')
    await start({ draft: ref }).result
    expect(await read('†draft')).toBe(ref)
    const copy = (await read('†copy')) as { assetRef: string }
    expect(await textOf(assets, copy.assetRef)).toBe('two')
  })

  it('writes a new value alone to another path, and not what the model sees', async () => {
    const { start, read, agent } = editor([
      [{ ...replaced('†draft', 'one', 'two'), _outputPath: '†copy && †state.copy' }],
    ])
    await start({ draft: 'one' }).result
    expect([await read('†draft'), await read('†copy')]).toEqual(['one', 'two'])
    expect(await read('†state.copy')).toBe('two')
    const [result] = await resultsOf(agent)
    expect(result).toMatchObject({ written_to: ['†copy', '†state.copy'], changes: 1 })
    expect(result).not.toHaveProperty('value')
  })

  it('edits the old value after an edit of the same path that was rejected', async () => {
    const { start, read, agent } = editor([
      [
        replaced('†draft', 'zzz', ''),
        replaced('†draft', 'a', 'b'),
        replaced('†other', 'x', '<|†draft|>'),
      ],
    ])
    await start({ draft: 'a', other: 'x' }).result
    expect([await read('†draft'), await read('†other')]).toEqual(['b', 'b'])
    expect((await resultsOf(agent)).map(({ code }) => code)).toEqual([
      'edit_rejected',
      undefined,
      undefined,
    ])
  })

  it('needs one path, or a place to write', async () => {
    const { start, agent, read } = editor([
      [replaced('†none || †draft', 'a', 'b')],
      [replaced('<|†draft|>', 'a', 'b')],
      [{ ...replaced('†none || †draft', 'a', 'b'), _outputPath: '†copy' }],
    ])
    await start({ draft: 'a' }).result
    expect(await resultsOf(agent)).toMatchObject([
      {
        message: expect.stringContaining(
          'ref must be one † path, and †none || †draft has more than one',
        ),
      },
      { message: expect.stringContaining('ref must be an asset:// reference or a † path') },
      { written_to: ['†copy'] },
    ])
    expect([await read('†draft'), await read('†copy')]).toEqual(['a', 'b'])
  })

  it('edits data that has a key asset_id', async () => {
    const edits: Edit[] = [{ op: 'replace', path: '/name', value: 'Ada' }]
    const { start, read } = editor([[{ ref: '†customer', edits }]])
    await start({ customer: { asset_id: 'customer-7', name: 'Bob' } }).result
    expect(await read('†customer')).toEqual({ asset_id: 'customer-7', name: 'Ada' })
  })

  it('writes no bytes into JSON', async () => {
    const assets = createAssets()
    const { ref } = await assets.save(Buffer.from([137, 80, 78, 71]), 'image/png')
    const edit: Edit = { op: 'add', path: '/logo', value: ref }
    const { start, read, agent } = editor([[{ ref: '†draft', edits: [edit] }]], { assets })
    await start({ draft: {} }).result
    expect(await read('†draft')).toEqual({})
    expect(await resultsOf(agent)).toMatchObject([
      { code: 'invalid_arguments', message: expect.stringContaining('value is not JSON') },
    ])
  })

  it('applies two edits of one path in the same answer one after the other', async () => {
    const { start, read } = editor([
      [replaced('†draft', 'a', 'b'), replaced('†draft', 'b', 'c'), replaced('†draft', 'c', 'd')],
    ])
    await start({ draft: 'a' }).result
    expect(await read('†draft')).toBe('d')
  })

  it('writes to its instance', async () => {
    const { start, agent } = editor([[{ ...replaced('†draft', 'a', 'b'), _instance: 'x' }]])
    await start({ draft: 'a' }).result
    const board = (await agent.conversation('c'))?.board
    expect([board?.read('†draft'), board?.read('†draft#x')]).toEqual(['a', 'b'])
  })

  it('rejects text that is no reference, before anything runs', async () => {
    const { start, agent } = editor([[replaced('report.md', 'a', 'b')]])
    await start().result
    expect(await resultsOf(agent)).toMatchObject([
      { code: 'invalid_arguments', message: expect.stringContaining('"report.md"') },
    ])
  })
})

/** Assets with the text `a` as `asset://note`. */
async function note() {
  const assets = createAssets()
  await assets.saveAsset({ asset_id: 'note', content_type: 'text/plain', content: 'a' })
  return assets
}

/** The texts of all versions, oldest first, each with the text of its source. */
async function lineOf(assets: ReturnType<typeof createAssets>): Promise<unknown[]> {
  const versions = await assets.versions('asset://note')
  return Promise.all(
    versions.slice(1).map(async ({ ref, previous }) => {
      return [await textOf(assets, previous), await textOf(assets, ref)]
    }),
  )
}

describe('edits of one asset', () => {
  it('in one answer are applied one to the result of the other', async () => {
    const assets = await note()
    const { start, agent } = editor(
      [[replaced('asset://note', 'a', 'ab'), replaced('asset://note', 'ab', 'abc')]],
      { assets },
    )
    await start().result
    expect(await lineOf(assets)).toEqual([
      ['a', 'ab'],
      ['ab', 'abc'],
    ])
    for (const result of await resultsOf(agent)) expect(result).not.toHaveProperty('note')
  })

  it('in one answer take turns, also if the model leaves out asset://', async () => {
    const assets = createAssets()
    const { ref, assetId } = await assets.save(Buffer.from('a'), 'text/plain')
    const { start } = editor([[replaced(assetId, 'a', 'ab'), replaced(ref, 'ab', 'abc')]], {
      assets,
    })
    await start().result
    const last = (await assets.versions(ref)).at(-1)
    expect(await textOf(assets, last?.ref)).toBe('abc')
  })

  it('in one answer: a rejected edit does not stop the next one', async () => {
    const assets = await note()
    const { start, agent } = editor(
      [[replaced('asset://note', 'zzz', ''), replaced('asset://note', 'a', 'b')]],
      { assets },
    )
    await start().result
    expect(await lineOf(assets)).toEqual([['a', 'b']])
    expect((await resultsOf(agent)).map(({ code }) => code)).toEqual(['edit_rejected', undefined])
  })

  it('in different answers are branches, and the model learns it', async () => {
    const assets = await note()
    const { start, agent } = editor(
      [[replaced('asset://note', 'a', 'b')], [replaced('asset://note', 'a', 'c')]],
      { assets },
    )
    await start().result
    expect(await lineOf(assets)).toEqual([
      ['a', 'b'],
      ['a', 'c'],
    ])
    const [first, second] = await resultsOf(agent)
    expect(first).not.toHaveProperty('note')
    expect(second?.note).toContain(`does not have the changes of ${first?.assetRef}`)
  })
})

const ASKS: AgentOptions['policies'] = [{ before: () => ({ decision: 'ask' }) }]

/** Resolves to the approval of the only call, when it waits. */
async function asked(agent: Agent) {
  const find = async () =>
    (await agent.log.read('c')).flatMap(({ event }) =>
      event.type === 'APPROVAL_REQUESTED' ? [event] : [],
    )
  await expect.poll(async () => (await find()).length).toBe(1)
  const [event] = await find()
  return event
}

describe('approval of an edit', () => {
  it('shows the diff, and runs exactly this edit', async () => {
    const assets = await note()
    const { start, agent } = editor([[replaced('asset://note', 'a', 'b')]], {
      assets,
      policies: ASKS,
    })
    const run = start()
    const { previews, toolCallId = '' } = (await asked(agent)) ?? {}
    expect(previews).toEqual(['@@ -1,1 +1,1 @@\n-a\n+b'])
    expect((await assets.versions('asset://note')).length).toBe(1)
    await agent.approve('c', toolCallId, { approved: true })
    await run.result
    expect(await lineOf(assets)).toEqual([['a', 'b']])
  })

  it('is not asked for an edit that would be rejected', async () => {
    const assets = await note()
    const { start, agent } = editor([[replaced('asset://note', 'zzz', 'b')]], {
      assets,
      policies: ASKS,
    })
    await start().result
    expect(await resultsOf(agent)).toMatchObject([{ code: 'edit_rejected' }])
  })

  it('writes nothing if the value at the path has changed meanwhile', async () => {
    const { start, agent, read } = editor([[replaced('†draft', 'a', 'b')]], { policies: ASKS })
    const run = start({ draft: 'a' })
    const { previews, toolCallId = '' } = (await asked(agent)) ?? {}
    expect(previews).toEqual(['†draft\n@@ -1,1 +1,1 @@\n-a\n+b'])
    const changed = toMessage({ type: 'data', kind: 'draft', data: 'a person wrote this' })
    await agent.log.append('c', [{ type: 'NEW_MESSAGE', payload: changed }])
    await agent.approve('c', toolCallId, { approved: true })
    await run.result
    expect(await read('†draft')).toBe('a person wrote this')
    expect(await resultsOf(agent)).toMatchObject([
      { code: 'edit_rejected', message: expect.stringContaining('†draft has changed') },
    ])
  })

  it.each(['done by hand', null, { value: 'c' }])(
    'takes %j, the result of a person, and writes nothing',
    async (result) => {
      const { start, agent, read } = editor([[replaced('†draft', 'a', 'b')]], { policies: ASKS })
      const run = start({ draft: 'a' })
      const { toolCallId = '' } = (await asked(agent)) ?? {}
      await agent.approve('c', toolCallId, { approved: true, result })
      await run.result
      expect(await read('†draft')).toBe('a')
      const { messages = [] } = (await agent.conversation('c')) ?? {}
      const given = messages.find(({ metadata }) => metadata.tool_result)
      expect(given?.content).toEqual(result)
      expect(given?.metadata.tool_result).not.toHaveProperty('error')
    },
  )

  it('fails, and changes nothing, if the asset was deleted meanwhile', async () => {
    const assets = await note()
    const { start, agent } = editor([[replaced('asset://note', 'a', 'b')]], {
      assets,
      policies: ASKS,
    })
    const run = start()
    const { toolCallId = '' } = (await asked(agent)) ?? {}
    await assets.delete('asset://note')
    await agent.approve('c', toolCallId, { approved: true })
    await run.result
    expect(await resultsOf(agent)).toMatchObject([{ code: 'asset_not_found' }])
    expect((await assets.list()).assets).toEqual([])
  })
})
