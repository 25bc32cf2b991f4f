import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isStepCount, type ModelMessage, ToolLoopAgent, tool } from 'ai'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ScriptedTurn, scriptedModel } from '../../testing/scripted-model.ts'
import { byReference } from './by-reference.ts'
import { calls } from './fixtures/models.ts'

const folder = mkdtempSync(join(tmpdir(), 'byref-agent-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const PICTURE = Buffer.alloc(1_000_000, 250)
PICTURE.set([137, 80, 78, 71, 13, 10, 26, 10])

/** An agent of the AI SDK, like in an app, each time in its own process. */
function agentWith(turns: readonly ScriptedTurn[], onMeasure: () => void = () => {}) {
  const refs = byReference({
    assets: { config: { backend: 'fs', fs: { rootDir: folder } } },
    outputs: 'references',
    capabilities: { takes: [] },
  })
  const model = scriptedModel(turns)
  const tools = refs.tools({
    photograph: tool({
      inputSchema: z.object({ gauge: z.number() }),
      execute: ({ gauge }) => ({ gauge, mimeType: 'image/png', data: PICTURE.toString('base64') }),
    }),
    measure: tool({
      inputSchema: z.object({ image: z.string() }),
      execute({ image }) {
        onMeasure()
        return `${Buffer.from(image, 'base64').length} bytes`
      },
    }),
    publish: tool({
      inputSchema: z.object({ image: z.string() }),
      needsApproval: ({ image }) => image.length > 1_000_000,
      execute: ({ image }) => `${Buffer.from(image, 'base64').length} bytes published`,
    }),
  })
  const agent = new ToolLoopAgent({ model: refs.model(model), tools, stopWhen: isStepCount(9) })
  return { agent, model }
}

const toPhotograph = calls(['photograph', { gauge: 1 }], ['photograph', { gauge: 2 }])
const start: ModelMessage[] = [{ role: 'user', content: 'Go' }]

/** The form in which a database stores messages. */
const stored = (messages: readonly ModelMessage[]): ModelMessage[] =>
  JSON.parse(JSON.stringify(messages))

describe('byReference in ToolLoopAgent', () => {
  it('streams parallel calls as references, and passes values on', async () => {
    const { agent, model } = agentWith([
      toPhotograph,
      calls(['measure', { image: '†result#1' }], ['measure', { image: '†result#2' }]),
      'Done.',
    ])
    const result = await agent.stream({ messages: start })
    const outputs: unknown[] = []
    let streamed = 0
    for await (const part of result.stream) {
      streamed += JSON.stringify(part).length
      if (part.type === 'tool-result') outputs.push(part.output)
    }
    const ref = expect.stringMatching(/^asset:\/\//)
    expect(outputs).toEqual([
      { gauge: 1, assetRef: ref, mimeType: 'image/png', kind: 'image' },
      { gauge: 2, assetRef: ref, mimeType: 'image/png', kind: 'image' },
      '1000000 bytes',
      '1000000 bytes',
    ])
    expect(streamed).toBeLessThan(50_000)
    expect(JSON.stringify(model.requests.at(-1)?.prompt).length).toBeLessThan(5_000)
  })

  it('asks a person about values, and runs the approved call in another process', async () => {
    const first = agentWith([toPhotograph, calls(['publish', { image: '†result#2' }])])
    const asked = await first.agent.generate({ messages: start })
    const request = asked.content.find((part) => part.type === 'tool-approval-request')
    expect(request?.toolCall.input).toEqual({ image: '†result#2' })
    const messages = stored([...start, ...asked.responseMessages])
    expect(JSON.stringify(messages).length).toBeLessThan(3_000)
    const approvalId = request?.approvalId ?? ''
    const answer = { type: 'tool-approval-response', approvalId, approved: true } as const
    const { agent, model } = agentWith(['Done.'])
    await agent.generate({ messages: [...messages, { role: 'tool', content: [answer] }] })
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain('1000000 bytes published')
  })

  it('stops in a call, and is continued by another process from the stored messages', async () => {
    const stop = new AbortController()
    const first = agentWith([toPhotograph, calls(['measure', { image: '†result#1' }])], () =>
      stop.abort(),
    )
    let kept: ModelMessage[] = []
    const stopped = await first.agent.stream({
      messages: start,
      abortSignal: stop.signal,
      onStepEnd: ({ response }) => {
        kept = stored([...start, ...response.messages])
      },
    })
    await stopped.consumeStream()
    expect(first.model.requests).toHaveLength(2)
    const { agent, model } = agentWith([calls(['measure', { image: '†result#2' }]), 'Done.'])
    const { text } = await agent.generate({ messages: kept })
    expect(text).toBe('Done.')
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('1000000 bytes')
  })
})
