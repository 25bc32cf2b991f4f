import type { LanguageModel } from '../../../src/index.ts'

// The interface version of byref's own copy. A peer may bring a newer one, which only adds fields.
type InstantModel = Extract<LanguageModel, { specificationVersion: 'v4' }>
type Answer = Awaited<ReturnType<InstantModel['doGenerate']>>
type Stream = Awaited<ReturnType<InstantModel['doStream']>>['stream']
type Part = Stream extends ReadableStream<infer P> ? P : never

/** A model of the AI SDK that answers at once: `steps` calls of `add`, then `done`, and so on. */
export function instantModel(steps: number): InstantModel {
  let turn = 0
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'instant',
    supportedUrls: {},
    async doGenerate() {
      const k = turn++ % (steps + 1)
      const content: Answer['content'][number] =
        k < steps ? call(k) : { type: 'text', text: 'done' }
      return { content: [content], finishReason: finishReason(k < steps), usage, warnings: [] }
    },
    async doStream() {
      const k = turn++ % (steps + 1)
      const parts: Part[] = [
        { type: 'stream-start', warnings: [] },
        ...(k < steps ? [call(k)] : done),
        { type: 'finish', finishReason: finishReason(k < steps), usage },
      ]
      return {
        stream: new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part)
            controller.close()
          },
        }),
      }
    },
  }
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

const done: Part[] = [
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'done' },
  { type: 'text-end', id: 't' },
]

function call(k: number) {
  const input = JSON.stringify({ a: k, b: 1 })
  return { type: 'tool-call' as const, toolCallId: `c${k}`, toolName: 'add', input }
}

function finishReason(calls: boolean): Answer['finishReason'] {
  return calls ? { unified: 'tool-calls', raw: 'tool_calls' } : { unified: 'stop', raw: 'stop' }
}
