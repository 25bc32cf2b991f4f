import { describe, expect, it } from 'vitest'
import { ToolIndex } from './tool-index.ts'
import type { DescribedTool } from './tool-ranking.ts'

const tool = (
  name: string,
  description = '',
  properties: Record<string, object> = {},
): DescribedTool => ({
  name,
  description,
  inputSchema: { type: 'object', properties },
})

const TOOLS: readonly DescribedTool[] = [
  tool('desk_list_tickets', 'Lists tickets. Deletes nothing.'),
  tool('desk_get_ticket', 'Returns one ticket'),
  tool('desk_create_ticket', 'Creates a ticket', { priority: { enum: ['urgent', 'low'] } }),
  tool('desk_delete_ticket', 'Removes a ticket for good'),
  tool('board_list_tickets', 'Lists the tickets of a board'),
  tool('board_move_ticket', 'Moves a ticket to another column'),
  tool('phone_record_sim_video', 'Records a video'),
  tool('phone_listPullRequests', 'Lists what waits for a review'),
  tool('phone_count_calls', 'Returns a number'),
]
const index = new ToolIndex(TOOLS, undefined)

async function found(query: string, group?: string): Promise<string[]> {
  return (await index.search(query, { group, limit: 3 })).map(({ name }) => name)
}

describe('ToolRanking', () => {
  it.each([
    ['a synonym of the verb', 'erase a ticket', 'desk_delete_ticket'],
    ['a value that a parameter can have', 'new urgent ticket', 'desk_create_ticket'],
    ['an abbreviation in a name', 'simulator', 'phone_record_sim_video'],
    ['an abbreviation of the query', 'open PRs', 'phone_listPullRequests'],
    ['a phrase', 'how many calls', 'phone_count_calls'],
    ['a misspelt word', 'reqests', 'phone_listPullRequests'],
    ['the beginning of a word', 'vid', 'phone_record_sim_video'],
  ])('finds by %s', async (_, query, name) => {
    expect((await found(query))[0]).toBe(name)
  })

  // The second tool of each pair is first by its name, so that it wins a tie.
  it.each([
    ['a request without a verb reads', 'ticket', tool('x_get_ticket'), tool('x_delete_ticket')],
    [
      'a verb of the name counts more than one of the description',
      'delete ticket',
      tool('x_remove_ticket'),
      tool('x_get_ticket', 'Deleted ones, too: delete, delete, delete'),
    ],
    [
      'more words of the query count more than a rare one',
      'export the monthly invoice as zebra',
      tool('x_save', 'Export of the monthly invoice'),
      tool('x_zebra'),
    ],
    [
      'a whole name counts more than a part of a name',
      'get ticket',
      tool('y_get_ticket'),
      tool('x_get_ticket_history', 'Get the ticket, or get a ticket'),
    ],
    ['a noun counts more than a verb', 'get zebra', tool('x_zebra'), tool('x_get')],
    [
      'a named group counts more than a description',
      'list tickets of board',
      tool('board_list_tickets'),
      tool('a_list_tickets', 'Of a board, board or board'),
    ],
  ])('knows that %s', async (_, query, winner, other) => {
    const others = ['board_a', 'board_b', 'x_a', 'x_b', 'y_a', 'y_b', 'a_a', 'a_b'].map((name) =>
      tool(name),
    )
    const some = new ToolIndex([other, winner, ...others], undefined)
    expect((await some.search(query, { limit: 1 }))[0]?.name).toBe(winner.name)
  })

  it('searches one group', async () => {
    expect(await found('tickets', 'board')).toEqual(['board_list_tickets', 'board_move_ticket'])
  })

  it('finds nothing for words that no tool has', async () => {
    expect(await found('zebra')).toEqual([])
  })

  it('gives the same order for any order of the tools', async () => {
    const reversed = new ToolIndex(TOOLS.toReversed(), undefined)
    for (const query of ['tickets', 'list', 'ticket changes']) {
      const other = await reversed.search(query, { limit: 9 })
      expect(other).toEqual(await index.search(query, { limit: 9 }))
    }
  })

  it('finds each of many tools by its name', async () => {
    const nouns = ['order', 'order_item', 'order_item_note', 'invoice', 'invoice_line']
    const verbs = ['get', 'list', 'create', 'update', 'delete', 'search']
    const names = nouns.flatMap((noun) => verbs.map((verb) => `shop_${verb}_${noun}`))
    const many = new ToolIndex(
      names.map((name) => tool(name)),
      undefined,
    )
    for (const name of names) {
      expect((await many.search(name, { limit: 1 }))[0]?.name).toBe(name)
    }
  })
})
