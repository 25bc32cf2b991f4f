import { describe, expect, it } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import { camera, say } from '../../agent/fixtures/agent.ts'
import { defineTool } from '../../boundary/tool.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'

const echo = defineTool({
  id: 'echo',
  description: 'Gives back what it is given',
  inputSchema: { type: 'object', properties: { value: {} } },
  execute: ({ value }) => value,
})

const call = (name: string, args: Record<string, unknown>, id: string) => ({
  calls: [{ id, name, arguments: args }],
})

describe('lineage', () => {
  const agent = createAgent({
    tools: [camera, echo],
    model: scriptedModel([
      call('camera', { _outputPath: '†state.shot' }, 'c1'),
      call('echo', { value: 'see <|†state.shot.note|>', _outputPath: '†state.words' }, 'c2'),
      call('echo', { value: '†state.words' }, 'c3'),
      call('echo', { value: '†state.shot.picture' }, 'c4'),
      call('echo', { value: 'new', _outputPath: '†state.words' }, 'c5'),
      call('echo', { value: '†state.words' }, 'c6'),
      'Done.',
    ]),
  })
  const run = agent.run({ messages: say('Go') })
  const lineage = async (ref: string) => {
    await run.result
    return agent.lineage(run.conversation, ref)
  }

  it('traces a value through data to the call that made it', async () => {
    const found = await lineage('†result#3')
    expect(found?.of).toEqual(['call:c3'])
    const calls = found?.nodes.flatMap(({ id, type }) => (type === 'call' ? id : []))
    expect(calls?.sort()).toEqual(['call:c1', 'call:c2', 'call:c3'])
    expect(found?.edges).toContainEqual({
      from: expect.stringMatching(/^data:/),
      to: 'call:c2',
      ref: '†state.shot.note',
    })
  })

  it('traces what was derived from an asset and where the asset came from', async () => {
    await run.result
    const [asset] = (await agent.assets.list()).assets
    const found = await lineage(asset?.ref ?? '')
    expect(found?.edges).toContainEqual({ from: 'call:c1', to: found?.of[0] })
    const first = await lineage('call:c1')
    const reached = first?.nodes.map(({ id }) => id)
    expect(reached).toEqual(expect.arrayContaining(['call:c2', 'call:c3', 'call:c4', found?.of[0]]))
    expect(reached).not.toContain('call:c6')
  })

  it('leads from a version to the one that it was made from', async () => {
    const editor = createAgent({
      tools: ['edit_asset'],
      model: scriptedModel([
        call('edit_asset', { ref: '†draft', edits: [{ find: 'a', replace: 'b' }] }, 'e1'),
        'Done.',
      ]),
    })
    const { ref, assetId } = await editor.assets.save(Buffer.from('a'), 'text/plain')
    const draft = { type: 'data' as const, kind: 'draft', data: ref }
    const edit = editor.run({ messages: [draft, ...say('Go')] })
    await edit.result
    const [version] = (await editor.assets.versions(ref)).slice(1)
    const found = await editor.lineage(edit.conversation, version?.ref ?? '')
    const to = `asset:${version?.assetId}`
    expect(found?.edges).toContainEqual({ from: `asset:${assetId}`, to, ref })
    expect(found?.edges).toContainEqual({ from: 'call:e1', to })
  })

  it('follows the last write of a name, and of no other name', async () => {
    const found = await lineage('†state.words')
    const calls = found?.nodes.flatMap(({ id, type }) => (type === 'call' ? id : []))
    expect(calls?.sort()).toEqual(['call:c5', 'call:c6'])
    expect(await lineage('†other')).toBeNull()
    await expect(agent.lineage('nowhere', '†state')).rejects.toMatchObject({
      code: 'conversation_not_found',
    })
  })
})
