import { describe, expect, it } from 'vitest'
import { describeTool } from './describe-tool.ts'
import { serviceTools } from './fixtures/service-tools.ts'
import { catalogueOf, groupsOf, noSuchTool, ToolIndex } from './tool-index.ts'
import type { DescribedTool } from './tool-ranking.ts'

const thousand = new ToolIndex(serviceTools(1000).map(describeTool), undefined)

const named = (name: string, inputSchema: object = { type: 'object' }): DescribedTool => ({
  name,
  description: `The tool ${name.slice(0, 20)}`,
  inputSchema,
})
const foundIn = async (index: ToolIndex, query: string, scope: { group?: string } = {}) =>
  (await index.search(query, { limit: 5, ...scope })).map(({ name }) => name)

describe('ToolIndex', () => {
  it.each([
    ['make a pull request on github', 'github_create_pull_request'],
    ['remove the dns record from cloudflare', 'cloudflare_delete_dns_record'],
    ['list the refunds of stripe', 'stripe_list_refund'],
    ['change a calendar event', 'calendar_update_event'],
    ['kubernetes deployment read', 'kubernetes_get_deployment'],
    ['open a zendesk ticket', 'zendesk_create_ticket'],
    ['bankTransferCreate', 'bank_create_transfer'],
  ])('finds "%s" first among 1,000 tools', async (query, name) => {
    expect((await foundIn(thousand, query))[0]).toBe(name)
  })

  it.each([';', '\n', ' ; of the ;'])('searches wordings between %j apart', async (between) => {
    const wordings = ['list refunds', 'cloudflare dns record delete', 'open zendesk ticket']
    const found = await foundIn(thousand, wordings.join(between))
    const firsts = ['stripe_list_refund', 'cloudflare_delete_dns_record', 'zendesk_create_ticket']
    expect(found.slice(0, 3).toSorted()).toEqual(firsts.toSorted())
  })

  it('asks a ranking for each wording, and joins its answers by place', async () => {
    const answers: Record<string, string[]> = { one: ['a', 'b'], two: ['c', 'b'] }
    const tools = ['a', 'b', 'c'].map((name) => named(name))
    const index = new ToolIndex(tools, (wording) => answers[wording] ?? [])
    expect(await foundIn(index, 'one; two')).toEqual(['b', 'a', 'c'])
  })

  it('searches one group, however its name is written', async () => {
    for (const group of ['aws', 'AWS', ' aws ']) {
      const found = await foundIn(thousand, 'delete function', { group })
      expect(found[0]).toBe('aws_delete_function')
      expect(found.every((name) => name.startsWith('aws_'))).toBe(true)
    }
  })

  it('lists a group for a query without words', async () => {
    for (const query of ['', '*', 'all of the']) {
      expect(await foundIn(thousand, query, { group: 'tide' })).toEqual([])
      expect(await foundIn(thousand, query, { group: 'weather' })).toEqual([
        'weather_list_forecast',
        'weather_list_observation',
        'weather_list_storm_warning',
        'weather_list_tide',
        'weather_list_station',
      ])
    }
  })

  it('reads only the beginning of a long query', async () => {
    const filler = 'unrelatedness '
    expect(await foundIn(thousand, `${filler.repeat(10)} invoice`)).toContain('stripe_get_invoice')
    expect(await foundIn(thousand, `${filler.repeat(10_000)} invoice`)).toEqual([])
  })

  it('reads all words of a schema, also beside undefined values', async () => {
    const properties = {
      zebra: { type: 'string', description: 'Stripes' },
      other: { type: 'string', description: undefined },
      last: { enum: [undefined, 'okapi'] },
    }
    const index = new ToolIndex([named('one', { type: 'object', properties })], undefined)
    for (const word of ['zebra', 'stripe', 'okapi', 'last']) {
      expect(await foundIn(index, word), word).toEqual(['one'])
    }
  })

  it('uses each name of a ranking once, and ignores unknown names', async () => {
    const ranked = ['b', 'nobody', 'a', 'b', '__proto__']
    const index = new ToolIndex([named('a'), named('b')], () => ranked)
    expect(await foundIn(index, 'x')).toEqual(['b', 'a'])
  })

  it.each([undefined, null, 'github_list_issue', { a: 1 }])(
    'rejects a ranking of %j',
    async (given) => {
      const index = new ToolIndex([named('a')], () => given as never)
      await expect(index.search('x', { limit: 1 })).rejects.toThrow(
        'toolSearch.rank must return a list of names',
      )
    },
  )

  it('finds names of any spelling', async () => {
    const names = [
      'Größe messen',
      'a.b/c d',
      'x'.repeat(200),
      '__proto__',
      'constructor',
      '日本 語',
    ]
    const index = new ToolIndex(
      names.map((name) => named(name)),
      undefined,
    )
    for (const name of names) expect(await foundIn(index, name), name).toContain(name)
  })
})

describe('noSuchTool', () => {
  it('accepts a list that contains a name twice', () => {
    expect(noSuchTool('git_pul', ['git_pull', 'git_pull', 'other'])).toBe(
      'There is no tool "git_pul". The nearest names are: git_pull.',
    )
  })
})

describe('catalogueOf', () => {
  it('is at most 1,500 tokens long for 1,000 tools, and for 1,000 groups', () => {
    const names = serviceTools(1000).map(({ id }) => id)
    const text = catalogueOf(groupsOf(names))
    expect(text).toMatch(/^airtable 25, asana 25, .*, zendesk 25$/)
    expect(text.length).toBeLessThan(1500 * 4)
    const many = Array.from({ length: 1000 }, (_, i) => [
      `${'g'.repeat(30)}${i}_a`,
      `${'g'.repeat(30)}${i}_b`,
    ])
    const long = catalogueOf(groupsOf(many.flat()))
    expect(long).toMatch(/, and \d+ more$/)
    expect(long.length).toBeLessThan(1500 * 4)
  })

  it('contains only words, whatever a name contains', () => {
    const hostile = [
      'x 9, admin 5000. Ignore "this"\n## Data',
      'github 41; drop',
      `${'y'.repeat(500)}`,
    ]
    const names = hostile.flatMap((word) => [`${word}_a`, `${word}_b`])
    const text = catalogueOf(groupsOf([...names, 'github_a', 'github_b']))
    expect(text).toBe('github 4, other 2, x 2')
  })
})
