import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { proxied } from '../fixtures/proxied.ts'

type Result = { content: { text: string }[]; isError?: boolean }
type Caller = Awaited<ReturnType<typeof proxied>>['client']

const call = async (client: Caller, name: string, args: object): Promise<Result> =>
  (await client.callTool({ name, arguments: args as never })) as unknown as Result
const wordsOf = ({ content }: Result) => content.map(({ text }) => text).join('\n')
const namesOf = async (client: Caller) => (await client.listTools()).tools.map(({ name }) => name)

/** A server with many tools, which the test can change. */
function manyTools(count = 200) {
  const calls: string[] = []
  let server: McpServer | undefined
  const add = (name: string, annotations = {}) => {
    const inputSchema = z.object({ city: z.string(), days: z.number().optional() })
    const config = { description: `The ${name} of a city`, inputSchema, annotations }
    return server?.registerTool(name, config, ({ city }) => {
      calls.push(`${name} ${city}`)
      return { content: [{ type: 'text', text: `${name} of ${city}` }] }
    })
  }
  const connect = (transport: Parameters<McpServer['connect']>[0]) =>
    serveStdio(
      () => {
        server = new McpServer({ name: 'many', version: '1' })
        for (let i = 0; i < count; i++) add(`field_${i}_value`)
        add('weather_forecast', { readOnlyHint: true })
        return server
      },
      { transport },
    )
  return { calls, connect, add }
}

describe('the proxy with many tools', () => {
  it('is off for a few tools, and on for many', async () => {
    const [few, many, off] = await Promise.all([
      proxied(manyTools(3).connect),
      proxied(manyTools(400).connect),
      proxied(manyTools(400).connect, { toolSearch: false }),
    ])
    expect(await namesOf(few.client)).toContain('field_1_value')
    expect(await namesOf(many.client)).toEqual(
      expect.arrayContaining(['fetch_asset', 'search_tools', 'call_tool']),
    )
    expect(await namesOf(many.client)).not.toContain('field_1_value')
    expect(await namesOf(off.client)).toContain('field_399_value')
    await Promise.all([few.close(), many.close(), off.close()])
  })

  it('finds a tool and calls it, also by its own name', async () => {
    const { connect, calls } = manyTools()
    const options = { toolSearch: { above: 0, pinned: ['field_7_value'] } }
    const { client, close } = await proxied(connect, options)
    expect((await namesOf(client))[0]).toBe('field_7_value')
    const found = JSON.parse(
      wordsOf(await call(client, 'search_tools', { query: 'forecast of the weather', limit: 1 })),
    )
    expect(found.tools).toMatchObject([
      { name: 'weather_forecast', parameters: { required: ['city'] } },
    ])
    const name = 'weather_forecast'
    await call(client, 'call_tool', { name, arguments: { city: 'Oslo' } })
    await call(client, 'call_tool', { name, arguments: '{"city":"Bergen"}' })
    await call(client, name, { city: 'Rome' })
    expect(calls).toEqual(['Oslo', 'Bergen', 'Rome'].map((city) => `${name} ${city}`))
    await close()
  })

  it('answers wrong calls with the parameters, or with the nearest names', async () => {
    const { connect, calls } = manyTools()
    const { client, close } = await proxied(connect, { toolSearch: true })
    const wrong = await call(client, 'call_tool', {
      name: 'weather_forecast',
      arguments: { town: 1 },
    })
    expect(wrong.isError).toBe(true)
    expect(wordsOf(wrong)).toMatch(
      /invalid_arguments: .*required property 'city'.*The parameters of weather_forecast are: \{.*"city"/,
    )
    const unknown = await call(client, 'call_tool', { name: 'weather_forcast', arguments: {} })
    expect(wordsOf(unknown)).toContain('The nearest names are: weather_forecast')
    expect(wordsOf(await call(client, 'call_tool', { name: 1 }))).toContain(
      'takes { name, arguments }',
    )
    expect(calls).toEqual([])
    await close()
  })

  it('announces other tools at the end of a result, and keeps its list', async () => {
    const { connect, add } = manyTools()
    const { client, close } = await proxied(connect, { toolSearch: true })
    const list = await client.listTools()
    const forecast = { name: 'weather_forecast', arguments: { city: 'Oslo' } }
    expect(wordsOf(await call(client, 'call_tool', forecast))).toBe('weather_forecast of Oslo')
    const tide = add('tide_table')
    const found = wordsOf(await call(client, 'search_tools', { query: 'tide' }))
    expect(found).toMatch(/"tide_table".*\nNew tools, which search_tools finds: tide_table$/)
    expect(wordsOf(await call(client, 'call_tool', forecast))).toBe('weather_forecast of Oslo')
    tide?.remove()
    const gone = call(client, 'call_tool', { name: 'tide_table', arguments: { city: 'Oslo' } })
    await expect(gone).rejects.toThrow('Tool tide_table not found')
    const searched = wordsOf(await call(client, 'search_tools', { query: 'tide' }))
    expect(searched).toMatch(/\nTools that do not exist any more: tide_table$/)
    const unknown = await call(client, 'call_tool', { name: 'tide_table', arguments: {} })
    expect(wordsOf(unknown)).toContain('There is no tool "tide_table"')
    add('tide_table')
    const back = await call(client, 'call_tool', {
      name: 'tide_table',
      arguments: { city: 'Oslo' },
    })
    expect(wordsOf(back)).toContain('tide_table of Oslo')
    expect((await client.listTools()).tools).toEqual(list.tools)
    await close()
  })

  it('passes references, and keeps quarantine, through call_tool', async () => {
    const { connect, calls } = manyTools()
    const { client, close } = await proxied(connect, { toolSearch: true, trust: 'quarantine' })
    const through = (name: string, city: string) =>
      call(client, 'call_tool', { name, arguments: { city } }).then(wordsOf)
    const read = await through('weather_forecast', 'Oslo')
    expect(read).not.toContain('Oslo')
    const ref = /asset:\/\/\w+/.exec(read)?.[0] ?? ''
    expect(read).toContain(`${ref} = <untrusted`)
    expect(await through('field_1_value', ref)).toContain('flow_denied')
    expect(calls).toEqual(['weather_forecast Oslo'])
    await close()
  })

  it("calls a server's own search_tools through call_tool", async () => {
    const { connect, calls, add } = manyTools()
    const { client, close } = await proxied(connect, { toolSearch: true })
    await client.listTools()
    add('search_tools')
    expect(wordsOf(await call(client, 'search_tools', { query: 'weather' }))).toContain('weather_')
    const own = await call(client, 'call_tool', {
      name: 'search_tools',
      arguments: { city: 'Oslo' },
    })
    expect(wordsOf(own)).toContain('search_tools of Oslo')
    expect(calls).toEqual(['search_tools Oslo'])
    await close()
  })
})
