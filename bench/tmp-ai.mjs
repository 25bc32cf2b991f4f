import { generateText, tool, isStepCount } from 'ai'
import { z } from 'zod'
const STEPS = 10, RUNS = 3000
const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } }
const add = tool({ description: 'add', inputSchema: z.object({ a: z.number(), b: z.number() }), execute: async ({ a, b }) => ({ sum: a + b }) })
async function run() { let i = 0
  const model = { specificationVersion: 'v4', provider: 'x', modelId: 'y', supportedUrls: {}, doGenerate: async () => { const k = i++; return k < STEPS ? { content: [{ type: 'tool-call', toolCallId: 'c' + k, toolName: 'add', input: JSON.stringify({ a: k, b: 1 }) }], finishReason: { unified: 'tool-calls', raw: 'x' }, usage, warnings: [] } : { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] } } }
  const r = await generateText({ model, prompt: 'go', stopWhen: isStepCount(1000), tools: { add } }); if (r.text !== 'done') throw 1 }
for (let i = 0; i < RUNS / 4; i++) await run()
let best = Infinity
for (let b = 0; b < 10; b++) { const c0 = process.cpuUsage(); for (let i = 0; i < RUNS / 10; i++) await run(); const c = process.cpuUsage(c0); best = Math.min(best, (c.user + c.system) / (RUNS / 10) / (STEPS + 1)) }
console.log('ai', best.toFixed(1))
