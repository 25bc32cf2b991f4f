import { generateText, isStepCount, streamText, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ByReferenceOptions } from './by-reference.ts'
import { byReference } from './by-reference.ts'
import { answeringModel, calls } from './fixtures/models.ts'

const stopWhen = isStepCount(10)
const services = ['github', 'crm', 'shop']
const called: unknown[] = []

/** Nine tools of three services, which note their calls. */
const tools = Object.fromEntries(
  services.flatMap((service) =>
    ['list_orders', 'create_invoice', 'delete_photo'].map((what) => {
      const name = `${service}_${what}`
      const execute = ({ id }: { id: string }) => {
        called.push([name, id])
        return { done: name }
      }
      const inputSchema = z.object({ id: z.string() })
      return [name, tool({ description: `${what} of ${service}`, inputSchema, execute })]
    }),
  ),
)

const through = (name: string, args: unknown): [string, unknown] => [
  'call_tool',
  { name, arguments: args },
]

async function run(turns: Parameters<typeof answeringModel>[0], options: ByReferenceOptions) {
  called.length = 0
  const refs = byReference(options)
  const model = answeringModel(turns)
  const asked = { model: refs.model(model), tools: refs.tools(tools), prompt: 'Go', stopWhen }
  const { steps, text } = await generateText(asked)
  const names = model.requests.map((request) => request.tools?.map(({ name }) => name))
  return { steps, text, names, prompts: model.requests.map(({ prompt }) => JSON.stringify(prompt)) }
}

const TURNS = [
  calls(['search_tools', { query: 'creating an invoice', group: 'crm' }]),
  calls(through('crm_create_invoice', { id: '7' })),
  calls(through('shop_list_orders', { id: '†result#2.done' })),
  'Done.',
]

describe('byReference({ toolSearch })', () => {
  it('shows two tools, runs the real ones, and repeats prompts to the last byte', async () => {
    const { steps, names, prompts, text } = await run(TURNS, { toolSearch: true })
    expect(text).toBe('Done.')
    expect(names).toEqual(Array(4).fill(['search_tools', 'call_tool']))
    expect(called).toEqual([
      ['crm_create_invoice', '7'],
      ['shop_list_orders', 'crm_create_invoice'],
    ])
    expect(steps.map(({ toolCalls }) => toolCalls[0]?.toolName)).toEqual([
      'search_tools',
      'crm_create_invoice',
      'shop_list_orders',
      undefined,
    ])
    const [found] = steps[0]?.toolResults ?? []
    expect(found?.output).toMatchObject({
      tools: [{ name: 'crm_create_invoice', description: 'create_invoice of crm' }],
    })
    for (const [i, prompt] of prompts.slice(1).entries()) {
      expect(prompt.startsWith((prompts[i] as string).slice(0, -1))).toBe(true)
    }
    expect(prompts[2]).toContain('"toolName":"call_tool","input":{"name":"crm_create_invoice"')
  })

  it('searches descriptions', async () => {
    const inputSchema = z.object({})
    const refs = byReference({ toolSearch: true })
    const model = answeringModel([calls(['search_tools', { query: 'umbrella' }]), 'Done.'])
    const { steps } = await generateText({
      model: refs.model(model),
      tools: refs.tools({
        a: tool({ description: 'Lends an umbrella', inputSchema, execute: () => 'ok' }),
        b: tool({ description: () => 'Lends a bicycle', inputSchema, execute: () => 'ok' }),
      }),
      prompt: 'Go',
      stopWhen,
    })
    expect(steps[0]?.toolResults).toMatchObject([{ output: { tools: [{ name: 'a' }] } }])
  })

  it('streams the real tool, and answers a wrong name with the nearest ones', async () => {
    const refs = byReference({ toolSearch: true })
    const model = answeringModel([
      calls(through('shop_delete_photo', { id: 'p' }), through('shop_delete_photos', { id: 'p' })),
      'Done.',
    ])
    const asked = { model: refs.model(model), tools: refs.tools(tools), prompt: 'Go', stopWhen }
    const started: string[] = []
    for await (const part of streamText(asked).fullStream) {
      if (part.type === 'tool-input-start') started.push(part.toolName)
    }
    expect(started).toEqual(['shop_delete_photo', 'call_tool'])
    const prompt = JSON.stringify(model.requests[1]?.prompt)
    expect(prompt).toContain('The nearest names are: shop_delete_photo,')
  })

  it('shows all tools below the limit, and pinned ones always', async () => {
    const all = Object.keys(tools)
    expect((await run(['Fine.'], { toolSearch: { above: 10_000 } })).names).toEqual([all])
    expect((await run(['Fine.'], {})).names).toEqual([all])
    const pinned = { above: 0, pinned: ['crm_list_orders'] }
    expect((await run(['Fine.'], { toolSearch: pinned })).names).toEqual([
      ['crm_list_orders', 'search_tools', 'call_tool'],
    ])
  })
})
