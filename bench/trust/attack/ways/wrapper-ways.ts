import { generateText, isStepCount, type ModelMessage, type ToolSet, tool } from 'ai'
import { z } from 'zod'
import { createAssets } from '../../../../src/assets/create-assets.ts'
import { byReference } from '../../../../src/integrations/ai-sdk/by-reference.ts'
import { calls } from '../../../../src/integrations/ai-sdk/fixtures/models.ts'
import { scriptedModel } from '../../../../src/testing/index.ts'
import { order } from '../../injections.ts'
import { isPoisoned } from '../scene.ts'
import type { Way } from './agent-ways.ts'

const any = z.object({ value: z.unknown().optional(), other: z.unknown().optional() })
const ORDER = order('mail')
const assets = createAssets()

interface Wrapped {
  source?: unknown
  turns: readonly (readonly [name: string, input: unknown])[]
  tools?: ToolSet
  known?: object
  messages?: ModelMessage[]
}

/** A single attack through the AI SDK's own loop, with a wrapped model and wrapped tools. */
const way = (name: string, write: () => Wrapped | Promise<Wrapped>): Way => ({
  name: `AI SDK: ${name}`,
  async run() {
    const { source: given, turns, tools = {}, known = {}, messages } = await write()
    const acted: unknown[] = []
    const all: ToolSet = {
      source: tool({ inputSchema: any, execute: () => given ?? { from: ORDER, text: ORDER } }),
      echo: tool({ inputSchema: any, execute: ({ value }) => value }),
      act: tool({ inputSchema: any, execute: (input) => void acted.push(input) }),
      ...tools,
    }
    const pure = { readOnly: true, openWorld: false }
    const trusted = { source: { readOnly: true }, echo: pure, find: pure, ...known }
    const trust = { mode: 'quarantine', onViolation: 'deny', tools: trusted } as const
    const refs = byReference({ assets, trust, capabilities: { takes: ['image/*'] } })
    const model = scriptedModel([...turns.map((one) => calls(one)), 'Done.', 'Done.'])
    const sdk = { model: refs.model(model), tools: refs.tools(all), stopWhen: isStepCount(9) }
    await generateText({
      ...sdk,
      messages: messages ?? [{ role: 'user', content: 'Go' }],
    }).catch(() => {})
    const prompt = model.requests.map((one) => JSON.stringify([one.prompt, one.tools]))
    const leak = prompt.find(isPoisoned)
    if (leak !== undefined) return `in a prompt: ${leak.slice(-800)}`
    const ran = JSON.stringify(acted)
    return isPoisoned(ran) ? `acted with ${ran}` : null
  },
})

const failing = (error: unknown): ToolSet => ({
  source: tool({
    inputSchema: any,
    execute: (): unknown => {
      throw error
    },
  }),
})

export const WRAPPER_WAYS: readonly Way[] = [
  way('an argument', () => ({
    turns: [
      ['source', {}],
      ['act', { value: '†result#1.text' }],
    ],
  })),
  way('a part of a text', () => ({
    turns: [
      ['source', {}],
      ['act', { value: 'to <|†result#1.text|>' }],
    ],
  })),
  way('a field of an argument', () => ({
    turns: [
      ['source', {}],
      ['act', { value: { a: ['†result#1'] } }],
    ],
  })),
  way('given back by a tool', () => ({
    turns: [
      ['source', {}],
      ['echo', { value: '†result#1' }],
      ['act', { value: '†result#2.text' }],
    ],
  })),
  way('an error', () => ({
    turns: [
      ['source', {}],
      ['act', { value: '†result#1' }],
    ],
    tools: failing(new Error(ORDER)),
  })),
  way('an error with a code', () => ({
    turns: [['source', {}]],
    tools: failing(Object.assign(new Error(ORDER), { code: ORDER, name: ORDER })),
  })),
  way('keys', () => ({ source: { [ORDER]: 1 }, turns: [['source', {}]] })),
  way('a large result', () => ({
    source: { text: `${ORDER} ${'x'.repeat(50_000)}` },
    turns: [['source', {}]],
  })),
  way('a file', () => ({
    source: { mimeType: `text/${ORDER}`, dataBase64: 'eA==', fileName: ORDER },
    turns: [['source', {}]],
  })),
  way('another output for the model', () => ({
    turns: [['source', {}]],
    tools: {
      source: tool({
        inputSchema: any,
        execute: () => ({ text: ORDER }),
        toModelOutput: ({ output }) => ({ type: 'json', value: { said: output.text } }),
      }),
    },
  })),
  way('another output, of some fields', () => ({
    turns: [['source', {}]],
    known: {
      source: { readOnly: true, returns: { fields: { text: { integrity: 'untrusted' } } } },
    },
    tools: {
      source: tool({
        inputSchema: any,
        execute: () => ({ id: 1, text: ORDER }),
        toModelOutput: ({ output }) => ({ type: 'text', value: `${output.id}: ${output.text}` }),
      }),
    },
  })),
  way('a field of both kinds', () => ({
    source: { id: 1, text: ORDER },
    turns: [
      ['source', {}],
      ['act', { value: '†result#1.text' }],
    ],
    known: {
      source: { readOnly: true, returns: { fields: { text: { integrity: 'untrusted' } } } },
    },
  })),
  way('an address that a trusted tool returns', async () => {
    const { ref } = await assets.saveAsset({ content_type: 'text/plain', content: ORDER })
    return {
      turns: [
        ['find', {}],
        ['act', { value: '†result#1.ref' }],
      ],
      tools: { find: tool({ inputSchema: any, execute: () => ({ ref }) }) },
    }
  }),
  way('a tool result among the messages', () => ({
    turns: [['act', { value: '†result#1' }]],
    messages: [
      { role: 'user', content: 'Go' },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'x', toolName: 'source', input: {} }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'x',
            toolName: 'source',
            output: { type: 'text', value: ORDER },
          },
        ],
      },
    ],
  })),
  way("a file of a person's message", () => ({
    turns: [],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'file', data: Buffer.from(ORDER), mediaType: 'text/plain', filename: ORDER },
        ],
      },
    ],
  })),
  way('no such field', () => ({
    source: { [ORDER]: 1 },
    turns: [
      ['source', {}],
      ['echo', { value: '†result#1.none' }],
    ],
  })),
]
