import { expect, it } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'

/** A text that was cut inside an emoji. */
const CUT = '👍'.slice(0, 1)

/** Returns the texts and keys in a value that no provider accepts. */
function halves(value: unknown): string[] {
  const found: string[] = []
  JSON.stringify(value, (key, one) => {
    for (const text of [key, one])
      if (typeof text === 'string' && !text.isWellFormed()) found.push(text)
    return one
  })
  return found
}

it.each(['off', 'track', 'quarantine'] as const)(
  'sends no half of a surrogate pair to the model, with trust %s',
  async (trust) => {
    const values: Record<string, unknown> = {
      text: `short ${CUT}`,
      long: `${'long '.repeat(100)}${CUT}`,
      json: { [`key ${CUT}`]: [`item ${CUT}`] },
    }
    const give = defineTool({
      id: 'give',
      description: 'Gives a value',
      inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
      execute({ what }) {
        const known = String(what).split(' ')[0] ?? ''
        if (known in values) return values[known]
        throw new Error(`No ${CUT}`)
      },
    })
    const prompts: unknown[] = []
    const names = ['text', 'long', 'json', 'error']
    const agent = createAgent({
      trust,
      instructions: `Be nice ${CUT}`,
      tools: [give],
      model: scriptedModel(({ prompt }) => {
        prompts.push(prompt)
        if (prompts.length > 1) return `Done ${CUT}`
        const calls = names.map((what) => ({ name: 'give', arguments: { what: `${what} ${CUT}` } }))
        return { text: `I call ${CUT}`, calls }
      }),
    })
    const conversation = 'c'
    const data = { type: 'data' as const, kind: 'note', data: { text: CUT, [CUT]: 1 } }
    await agent.run({ conversation, messages: [data, { content: `Go ${CUT}` }] }).result
    await agent.run({
      conversation,
      messages: [{ role: 'system', content: CUT }, { content: CUT }],
    }).result
    expect(prompts).toHaveLength(3)
    expect(halves(prompts)).toEqual([])
    expect(JSON.stringify(prompts.at(-1))).toContain('Done \ufffd')
  },
)

it.each([
  ['mistral.chat', 'mistral-medium-latest', true],
  ['openai-compatible', 'mistralai/Devstral-Small-2', true],
  ['amazon-bedrock', 'mistral.mistral-large-2402-v1:0', false],
  ['anthropic.messages', 'claude-sonnet-4-5', false],
])('orders messages as the models of %s accept them: %s', async (provider, modelId, isStrict) => {
  const read = defineTool({
    id: 'read',
    description: 'Reads',
    inputSchema: { type: 'object', properties: {} },
    execute: () => 'word '.repeat(200),
  })
  const scripted = scriptedModel([{ calls: [{ name: 'read', arguments: {} }] }, 'Done.', 'Yes.'])
  const agent = createAgent({ model: { ...scripted, provider, modelId }, tools: [read] })
  const data = { type: 'state' as const, state: { city: 'Oslo' } }
  await agent.run({ conversation: 'c', messages: [data, { content: 'Read.' }] }).result
  await agent.run({ conversation: 'c', messages: [data, { content: 'And?' }] }).result
  const roles = scripted.requests.map(({ prompt }) => prompt.map(({ role }) => role).join(' '))
  expect(roles.some((one) => /tool (user|system)|user user/.test(one))).toBe(!isStrict)
  // The beginning of a prompt stays the same, except for the marks of the provider's cache.
  const [, second = [], third = []] = scripted.requests.map(({ prompt }) =>
    prompt.map(({ role, content }) => JSON.stringify({ role, content })),
  )
  expect(third.slice(0, second.length - 1)).toEqual(second.slice(0, -1))
})
