// Ten tool calls that each return a 1 MB image: the size of the eleventh prompt, what is stored, and the time of a
// run.
// node bench/agent/ten-images.ts
import { readFileSync } from 'node:fs'
import os from 'node:os'
import {
  Agent as OpenAIAgent,
  tool as openaiTool,
  run as runOpenAI,
  setTracingDisabled,
  Usage,
} from '@openai/agents'
import { tool as aiTool, generateText, isStepCount } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'
import { createAgent, createMemoryLog, defineTool } from '../../src/index.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

const STEPS = 10
const RUNS = 7
const image = Buffer.alloc(1_000_000, 7).toString('base64')
const result = () => ({ mimeType: 'image/png', dataBase64: image })

interface Outcome {
  /** Characters of the last prompt as JSON. */
  prompt: number
  /** Characters of what is stored to continue the conversation, as JSON, without asset bodies. */
  kept: number
}

async function byref(): Promise<Outcome> {
  const photo = defineTool({
    id: 'photo',
    description: 'Takes a picture',
    inputSchema: { type: 'object', properties: {} },
    execute: result,
  })
  const calls = Array.from({ length: STEPS }, () => ({ calls: [{ name: 'photo', arguments: {} }] }))
  const model = scriptedModel([...calls, 'done'])
  const log = createMemoryLog()
  const run = createAgent({ model, tools: [photo], log }).run({
    messages: [{ role: 'user', content: 'go' }],
  })
  await run.result
  const kept = JSON.stringify(await log.read(run.conversation, { limit: 1000 })).length
  return { prompt: JSON.stringify(model.requests.at(-1)?.prompt).length, kept }
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

async function aiSdk(): Promise<Outcome> {
  let step = 0
  let prompt = 0
  const model = new MockLanguageModelV4({
    doGenerate: async (options) => {
      if (step === STEPS) prompt = JSON.stringify(options.prompt).length
      const id = `c${step}`
      return step++ < STEPS
        ? {
            content: [{ type: 'tool-call', toolCallId: id, toolName: 'photo', input: '{}' }],
            finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
            usage,
            warnings: [],
          }
        : {
            content: [{ type: 'text', text: 'done' }],
            finishReason: { unified: 'stop', raw: 'stop' },
            usage,
            warnings: [],
          }
    },
  })
  const photo = aiTool({
    description: 'Takes a picture',
    inputSchema: z.object({}),
    execute: async () => result(),
  })
  const { responseMessages } = await generateText({
    model,
    prompt: 'go',
    stopWhen: isStepCount(1000),
    tools: { photo },
  })
  return { prompt, kept: JSON.stringify(responseMessages).length }
}

async function openaiAgents(): Promise<Outcome> {
  let step = 0
  let prompt = 0
  const model = {
    async getResponse(request: { input: unknown }) {
      if (step === STEPS) prompt = JSON.stringify(request.input).length
      const id = step++
      const output =
        id < STEPS
          ? [
              {
                type: 'function_call',
                id: `f${id}`,
                callId: `c${id}`,
                name: 'photo',
                status: 'completed',
                arguments: '{}',
              },
            ]
          : [
              {
                type: 'message',
                id: `m${id}`,
                role: 'assistant',
                status: 'completed',
                content: [{ type: 'output_text', text: 'done' }],
              },
            ]
      return { usage: new Usage({ inputTokens: 1, outputTokens: 1, totalTokens: 2 }), output }
    },
    // biome-ignore lint/correctness/useYield: the interface asks for it; only getResponse is called
    async *getStreamedResponse() {
      throw new Error('not used')
    },
  }
  const photo = openaiTool({
    name: 'photo',
    description: 'Takes a picture',
    parameters: z.object({}),
    execute: async () => result(),
  })
  const agent = new OpenAIAgent({
    name: 'a',
    instructions: 'x',
    model: model as never,
    tools: [photo],
  })
  const { state } = await runOpenAI(agent, 'go', { maxTurns: 1000 })
  return { prompt, kept: state.toString().length }
}

setTracingDisabled(true)
const contestants = { byref, 'AI SDK generateText': aiSdk, 'OpenAI Agents run': openaiAgents }
const version = (name: string): string =>
  JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), 'utf8'))
    .version

console.log(
  `${os.cpus()[0]?.model}, ${os.cpus().length} cores, Node ${process.version}; ai ${version('ai')}, @openai/agents ${version('@openai/agents')}`,
)
console.log(`${STEPS} calls × 1 MB image, ${RUNS} runs each, in turn\n`)

const times = new Map<string, number[]>()
const outcomes = new Map<string, Outcome>()
for (let i = 0; i <= RUNS; i++) {
  for (const [name, contestant] of Object.entries(contestants)) {
    const start = performance.now()
    outcomes.set(name, await contestant())
    // The first round is a warm-up.
    if (i > 0) times.set(name, [...(times.get(name) ?? []), performance.now() - start])
  }
}

const own = outcomes.get('byref') as Outcome
for (const [name, { prompt, kept }] of outcomes) {
  const sorted = (times.get(name) ?? []).sort((a, b) => a - b)
  const median = sorted[sorted.length >> 1] ?? 0
  const spread = `${sorted[0]?.toFixed(0)}–${sorted.at(-1)?.toFixed(0)}`
  const ratio = (prompt / own.prompt).toFixed(0)
  console.log(
    `${name.padEnd(20)} last prompt ${size(prompt)} (${ratio}×)   kept ${size(kept)}   run ${median.toFixed(0)} ms (${spread})`,
  )
}

function size(characters: number): string {
  return characters > 1e6
    ? `${(characters / 1e6).toFixed(1)} MB`
    : `${(characters / 1e3).toFixed(1)} kB`
}
