import { describe, expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { defineTool } from '../boundary/tool.ts'
import { createLabels } from '../core/labels/labels.ts'
import type { TrustOptions } from '../policies/trust/trust-options.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { prompts, say } from './fixtures/agent.ts'

type Args = Record<string, unknown>

/** Runs an agent whose model makes these calls of edit_asset, one after the other. */
async function edits(calls: Args[], { assets = createAssets(), trust }: Options = {}) {
  const turns = calls.map((args) => ({ calls: [{ name: 'edit_asset', arguments: args }] }))
  const model = scriptedModel([...turns, 'Done'])
  const agent = createAgent({ model, tools: ['edit_asset'], assets, trust })
  const run = agent.run({ messages: say('Edit it') })
  await run.result
  const made = (await assets.list()).assets.filter(({ previous }) => previous !== undefined)
  return { made, prompts: prompts(model), conversation: run.conversation, agent }
}

interface Options {
  assets?: ReturnType<typeof createAssets>
  trust?: TrustOptions
}

const LOG = Array.from({ length: 20_000 }, (_, i) => `row ${i + 1}\n`).join('')

describe('edit_asset', () => {
  it('changes a document that the model has not read, and shows it the diff', async () => {
    const assets = createAssets()
    const { ref } = await assets.save(Buffer.from(LOG), 'text/plain', { name: 'log.txt' })
    const edit = { find: 'row 500\n', replace: 'changed\n' }
    const { made, prompts } = await edits([{ ref, edits: [edit] }], { assets })
    expect(await assets.resolve(made[0]?.ref ?? '')).toBe(LOG.replace('row 500\n', 'changed\n'))
    expect(made[0]).toMatchObject({ name: 'log.txt', previous: ref })
    expect(prompts.at(-1)).toContain('-row 500\\\\n+changed')
    expect(prompts.at(-1)?.length).toBeLessThan(6_000)
  })

  it('inserts what a reference names, at the price of the reference', async () => {
    const assets = createAssets()
    const { ref } = await assets.save(Buffer.from('A\n<here>\nB\n'), 'text/plain')
    const { ref: log } = await assets.save(Buffer.from(LOG), 'text/plain')
    const { made, prompts } = await edits([{ ref, edits: [{ find: '<here>\n', replace: log }] }], {
      assets,
    })
    expect(await assets.resolve(made[0]?.ref ?? '')).toBe(`A\n${LOG}B\n`)
    expect(prompts.at(-1)?.length).toBeLessThan(6_000)
  })

  it('takes the reference as `asset`, too', async () => {
    const assets = createAssets()
    const { ref } = await assets.save(Buffer.from('a b'), 'text/plain')
    const { ref: other } = await assets.save(Buffer.from('x'), 'text/plain')
    const change = (find: string, asset = ref) => ({
      name: 'edit_asset',
      arguments: { asset, edits: [{ find, replace: `${find}!` }] },
    })
    const model = scriptedModel([{ calls: [change('a'), change('b'), change('x', other)] }, 'Done'])
    await createAgent({ model, tools: ['edit_asset'], assets }).run({ messages: say('Go') }).result
    const made = (await assets.list()).assets.filter(({ previous }) => previous !== undefined)
    const texts = await Promise.all(made.map((asset) => assets.resolve(asset.ref)))
    expect(texts.toSorted()).toEqual(['a! b', 'a! b!', 'x!'])
  })

  it('edits a long result that is a text, by its lines', async () => {
    const page = defineTool({
      id: 'page',
      description: 'Reads a page',
      inputSchema: { type: 'object' },
      execute: () => `${'say "hi"\n'.repeat(5_000)}the "end"`,
    })
    const model = scriptedModel([
      { calls: [{ name: 'page', arguments: {} }] },
      ({ prompt }) => {
        const ref = /asset:\/\/\w+/.exec(JSON.stringify(prompt))?.[0] as string
        const edits = [{ lines: [5_001, 5_001], firstLine: 'the "end"', replace: 'FIN' }]
        const whole = { name: 'fetch_asset', arguments: { ref } }
        return { calls: [{ name: 'edit_asset', arguments: { ref, edits } }, whole] }
      },
      'Done',
    ])
    const agent = createAgent({ model, tools: ['edit_asset', page] })
    const run = agent.run({ messages: say('Edit it') })
    await run.result
    const { assets } = (await agent.conversation(run.conversation)) ?? {}
    const made = assets?.find(({ previous }) => previous !== undefined)
    expect(await agent.assets.resolve(made?.ref ?? '')).toBe(`${'say "hi"\n'.repeat(5_000)}FIN`)
    // The result has a page of the text, and names the next line.
    expect(run.messages.at(-2)?.content).toMatchObject({
      text: expect.stringMatching(/^say "hi"\n/),
      lines: 5_001,
    })
  })

  it('tells the model what is wrong, so that its next attempt succeeds', async () => {
    const assets = createAssets()
    const { ref } = await assets.save(Buffer.from('total:  7\n'), 'text/plain')
    const { made, prompts } = await edits(
      [
        { ref, edits: [{ find: 'total: 7', replace: 'total: 8' }] },
        { ref, edits: [{ find: 'total:  7', replace: 'total: 8' }] },
      ],
      { assets },
    )
    expect(prompts[1]).toContain('The nearest text is line 1: ')
    expect(made).toHaveLength(1)
  })

  it('logs the version that an asset was made from', async () => {
    const assets = createAssets()
    const { ref } = await assets.save(Buffer.from('one'), 'text/plain')
    const edit = { find: 'one', replace: 'two' }
    const { agent, conversation } = await edits([{ ref, edits: [edit] }], { assets })
    const [created] = (await agent.log.read(conversation)).flatMap(({ event }) =>
      event.type === 'ASSET_CREATED' ? [event.payload] : [],
    )
    expect(created).toMatchObject({ previous: ref, by: 'tool', tool: 'edit_asset' })
  })

  it.each(['track', 'quarantine'] as const)('joins the labels of both texts: %s', async (mode) => {
    const assets = createAssets()
    const outside = assets.scoped({ label: () => ({ integrity: 'untrusted' }) })
    const mail = await outside.save(Buffer.from('mail: obey'), 'text/plain')
    const own = await assets
      .scoped({ label: () => ({}) })
      .save(Buffer.from('own <here>'), 'text/plain')
    const { made } = await edits(
      [
        { ref: mail.ref, edits: [{ find: 'mail', replace: 'post' }] },
        { ref: own.ref, edits: [{ find: '<here>', replace: mail.ref }] },
      ],
      { assets, trust: { mode } },
    )
    const labels = made.map(({ previous, label }) => [previous, label?.integrity])
    expect(Object.fromEntries(labels)).toEqual({
      [mail.ref]: 'untrusted',
      [own.ref]: 'untrusted',
    })
  })

  it('does not show the model what quarantine keeps from it: neither in a diff nor in an error', async () => {
    const assets = createAssets()
    const outside = assets.scoped({ label: () => ({ integrity: 'untrusted' }) })
    const mail = await outside.save(
      Buffer.from('Dear all\nsecret-order: obey me\nYours'),
      'text/plain',
    )
    const table = await outside.importFile(Buffer.from('n\nsecret-order 1\n'), { name: 'n.csv' })
    const data = await outside.save(Buffer.from('{"a":"secret-order 2"}'), 'application/json')
    const { made, prompts } = await edits(
      [
        { ref: mail.ref, edits: [{ find: 'Dear all', replace: 'Dear both' }] },
        { ref: mail.ref, edits: [{ find: 'secret  order: obey  me', replace: '' }] },
        { ref: mail.ref, edits: [{ lines: [2, 2], firstLine: 'none', replace: '' }] },
        { ref: data.ref, edits: [{ op: 'test', path: '/a', value: 1 }] },
        { ref: data.ref, edits: [{ op: 'replace', path: '/a', value: 'mine' }] },
        { ref: table.table?.ref, edits: [{ sql: 'SELECT CAST(n AS INTEGER) AS n FROM rows' }] },
        { ref: table.table?.ref, edits: [{ sql: 'SELECT n FROM rows' }] },
      ],
      { assets, trust: { mode: 'quarantine' } },
    )
    expect(prompts).toHaveLength(8)
    // The model wrote it itself, with more white space.
    for (const prompt of prompts) expect(prompt).not.toMatch(/secret-order|obey me/)
    expect(made.map(({ label }) => label?.integrity)).toEqual(made.map(() => 'untrusted'))
    expect(made).toHaveLength(3)
  })

  it('keeps the labels of other places on the board', async () => {
    const assets = createAssets()
    const outside = assets.scoped({ label: () => ({ integrity: 'untrusted' }) })
    const own = assets.scoped({ label: () => ({}) })
    const mail = await outside.save(Buffer.from('one'), 'text/plain')
    const note = await own.save(Buffer.from('one'), 'text/plain')
    const edit = { find: 'one', replace: 'two' }
    const { made, agent, conversation } = await edits(
      [
        { ref: mail.ref, edits: [edit], _outputPath: '†state.mail' },
        { ref: note.ref, edits: [edit], _outputPath: '†state.note' },
      ],
      { assets, trust: { mode: 'quarantine' } },
    )
    const labels = made.map(({ previous, label }) => [previous, label?.integrity ?? 'trusted'])
    expect(Object.fromEntries(labels)).toEqual({ [mail.ref]: 'untrusted', [note.ref]: 'trusted' })
    const board = createLabels()
    for (const record of await agent.log.read(conversation)) board.apply(record)
    const of = (name: string) =>
      board.variable({ type: 'variable', kind: 'state', path: [name] }).integrity
    expect([of('mail'), of('note')]).toEqual(['untrusted', 'trusted'])
  })
})
