import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { tool as aiTool, generateText, isStepCount } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'
import { createAgent, createAssets } from '../../src/index.ts'
import { type ScriptedTurn, scriptedModel } from '../../src/testing/scripted-model.ts'
import type { Request } from './edit-cost.ts'
import type { PlannedEdit } from './plan-edits.ts'

/** The results of edits of a document, and the requests and answers of the model. */
export interface Played {
  /** The document after each edit. */
  versions: Buffer[]
  requests: Request[][]
}

interface Call {
  name: string
  arguments: Record<string, unknown>
}

const PROVIDER = { provider: 'openai.responses', modelId: 'gpt-5' }
const INSTRUCTIONS = 'You edit documents. Change what you are asked for, and nothing else.'

/** An agent that finds the place and states the change. Each edit is a conversation. */
export async function playByref(
  path: string,
  bytes: Buffer,
  edits: readonly PlannedEdit[],
): Promise<Played> {
  const assets = createAssets()
  const mime = path.endsWith('.json') ? 'application/json' : 'text/plain'
  let { ref } = await assets.save(bytes, mime, { name: path.split('/').at(-1) })
  const versions: Buffer[] = []
  const requests: Request[][] = []
  for (const { edit, before } of edits) {
    const { model, asked } = recorded([
      { calls: [{ name: 'search_asset', arguments: { ref, query: queryFor(edit, before) } }] },
      { calls: [{ name: 'edit_asset', arguments: { ref, edits: [edit] } }] },
      'Done.',
    ])
    const tools = ['search_asset', 'edit_asset'] as const
    const agent = createAgent({ model, tools, assets, instructions: INSTRUCTIONS })
    const run = agent.run({ messages: `In ${ref}: ${wish(edit)}` })
    for await (const event of run) {
      if (event.type !== 'TOOL_CALL_RESULT') continue
      const result = JSON.parse(event.content) as { assetRef?: string; changes?: number }
      if (result.changes !== undefined) ref = result.assetRef as string
    }
    await agent.close()
    versions.push(Buffer.from((await assets.get(ref)).bytes))
    requests.push(asked())
  }
  return { versions, requests }
}

/** The same with the AI SDK and tools that read and write whole files. */
export async function playAiSdk(
  path: string,
  bytes: Buffer,
  edits: readonly PlannedEdit[],
): Promise<Played> {
  let file = bytes.toString()
  const tools = {
    read_file: aiTool({
      description: 'Reads a file',
      inputSchema: z.object({ path: z.string() }),
      execute: () => file,
    }),
    write_file: aiTool({
      description: 'Writes a file',
      inputSchema: z.object({ path: z.string(), content: z.string() }),
      execute: ({ content }) => {
        file = content
        return 'Written.'
      },
    }),
  }
  const versions: Buffer[] = []
  const requests: Request[][] = []
  for (const { edit, after } of edits) {
    const answers: (Call | string)[] = [
      { name: 'read_file', arguments: { path } },
      { name: 'write_file', arguments: { path, content: after } },
      'Done.',
    ]
    const asked: Request[] = []
    const model = new MockLanguageModelV4({
      ...PROVIDER,
      doGenerate: async (options) => {
        const answer = answers[asked.length] as Call | string
        asked.push(requestOf(options, typeof answer === 'string' ? answer : [answer]))
        return generated(answer, asked.length)
      },
    })
    await generateText({
      model,
      instructions: INSTRUCTIONS,
      prompt: `In ${path}: ${wish(edit)}`,
      tools,
      stopWhen: isStepCount(10),
    })
    versions.push(Buffer.from(file))
    requests.push(asked)
  }
  return { versions, requests }
}

function generated(answer: Call | string, id: number) {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  }
  const isText = typeof answer === 'string'
  return {
    content: [
      isText
        ? { type: 'text' as const, text: answer }
        : {
            type: 'tool-call' as const,
            toolCallId: `call-${id}`,
            toolName: answer.name,
            input: JSON.stringify(answer.arguments),
          },
    ],
    finishReason: { unified: isText ? ('stop' as const) : ('tool-calls' as const), raw: undefined },
    usage,
    warnings: [],
  }
}

/** A scripted model with its requests and answers. */
function recorded(answers: readonly (string | { calls: Call[] })[]) {
  const model = Object.assign(scriptedModel(answers as readonly ScriptedTurn[]), PROVIDER)
  const asked = (): Request[] => {
    if (model.requests.length !== answers.length) throw new Error('The script was not played')
    return model.requests.map((request, i) => {
      const answer = answers[i] as string | { calls: Call[] }
      return requestOf(request, typeof answer === 'string' ? answer : answer.calls)
    })
  }
  return { model, asked }
}

function requestOf(
  { prompt, tools = [] }: LanguageModelV4CallOptions,
  answer: string | readonly Call[],
): Request {
  return { prompt, tools, answer }
}

/** The request of the user. Both models get the same. */
function wish(edit: object): string {
  return `apply this change: ${JSON.stringify(edit)}`
}

/** Returns what a model searches for to see the place: a text of the edit in one line, or the last key of a path. */
function queryFor(edit: PlannedEdit['edit'], before: string): string {
  if ('path' in edit) return edit.path.split('/').at(-1) || 'a'
  const texts = Object.entries(edit).flatMap(([key, value]) =>
    /find|firstLine|before|after/.test(key) ? String(value).split('\n') : [],
  )
  const [longest = ''] = texts.sort((a, b) => b.length - a.length)
  const query = longest.trim().slice(0, 40)
  return query === '' ? before.trim().slice(0, 10) : query
}
