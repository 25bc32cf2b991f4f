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
    expect(found?.output).toMatchObject({ tools: [{ name: 'crm_create_invoice' }] })
    for (const [i, prompt] of prompts.slice(1).entries()) {
      expect(prompt.startsWith((prompts[i] as string).slice(0, -1))).toBe(true)
    }
    expect(prompts[2]).toContain('"toolName":"call_tool","input":{"name":"crm_create_invoice"')
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

  it.each(['generateText', 'streamText'] as const)(
    'answers wrong arguments with the parameters, and an unknown tool with the nearest names: %s',
    async (how) => {
      const refs = byReference({ toolSearch: true })
      const model = answeringModel([
        calls(through('crm_create_invoice', { id: 7 }), ['crm_create_invoices', { id: '7' }]),
        calls(
          through('crm_list_orders', { id: '†result#9.none' }),
          through('shop_create_invoice', { id: '7' }),
        ),
        calls(through('shop_delete_photo', { id: { of: '†result#4.done' } })),
        'Done.',
      ])
      const asked = { model: refs.model(model), tools: refs.tools(tools), prompt: 'Go', stopWhen }
      called.length = 0
      const steps =
        how === 'generateText'
          ? (await generateText(asked)).steps
          : await streamText({ ...asked, onError: () => {} }).steps
      // The application gets the errors of the AI SDK.
      const errors = steps[0]?.content.filter(({ type }) => type === 'tool-error')
      expect(errors).toMatchObject(
        [
          { toolName: 'crm_create_invoice', error: /Invalid input for tool/ },
          { toolName: 'crm_create_invoices', error: /Available tools: github_list_orders/ },
        ].map((one) => ({ ...one, error: expect.stringMatching(one.error) })),
      )
      const results = (turn: number) =>
        (model.requests[turn]?.prompt ?? []).flatMap(({ role, content }) =>
          role === 'tool' ? content.filter(({ type }) => type === 'tool-result') : [],
        )
      const texts = results(1).map((part) => JSON.stringify(part))
      expect(texts[0]).toMatch(
        /"toolName":"call_tool".*Invalid input for tool crm_create_invoice: .*\. The parameters of crm_create_invoice are: \{.*properties.*id/,
      )
      expect(texts[1]).toContain(
        'There is no tool \\"crm_create_invoices\\". The nearest names are: crm_create_invoice,',
      )
      expect(texts[1]).toContain('Find tools with search_tools')
      expect(texts[1]).not.toContain('Available tools')
      expect(JSON.stringify(results(2).at(-2))).not.toContain('The parameters of')
      expect(JSON.stringify(results(3).at(-1))).toMatch(
        /The arguments of .*shop_delete_photo.* do not fit .*The parameters of shop_delete_photo are: /,
      )
      expect(called).toEqual([['shop_create_invoice', '7']])
      const prompts = model.requests.map(({ prompt }) => JSON.stringify(prompt))
      for (const [i, prompt] of prompts.slice(1).entries()) {
        expect(prompt.startsWith((prompts[i] as string).slice(0, -1))).toBe(true)
      }
    },
  )

  it('leaves the errors of the AI SDK alone where the model sees all tools', async () => {
    const turns = [calls(['crm_create_invoice', { id: 7 }], ['crm_create', {}]), 'Done.']
    const { prompts } = await run(turns, { toolSearch: { above: 10_000 } })
    expect(prompts[1]).toContain('Available tools: github_list_orders')
    expect(prompts[1]).not.toContain('The parameters of')
  })

  it.each(['track', 'quarantine'] as const)(
    'shows what a search finds, and lets the model call it, with trust: %s',
    async (trust) => {
      const { prompts, steps } = await run(TURNS, { toolSearch: true, trust })
      expect(prompts[1]).toContain('create_invoice of crm')
      expect(steps[1]?.content.map(({ type }) => type)).toEqual(['tool-call', 'tool-result'])
      // The result of the application's tool is untrusted, so a person is asked about the next call.
      expect(steps[2]?.content.map(({ type }) => type)).toEqual([
        'tool-call',
        'tool-approval-request',
      ])
    },
  )

  it('searches in descriptions', async () => {
    const words = { stamp: tool({ description: 'Franks a letter', inputSchema: z.object({}) }) }
    const refs = byReference({ toolSearch: true })
    const model = answeringModel([calls(['search_tools', { query: 'letters' }]), 'Done.'])
    const all = refs.tools({ ...tools, ...words })
    await generateText({ model: refs.model(model), tools: all, prompt: 'Go', stopWhen })
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('Franks a letter')
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
