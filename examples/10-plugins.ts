// A plugin in YAML: the model calls its commands as tools, and users call them with messages, without a model.
import { createAgent, loadPlugin } from 'byref'
import { scriptedModel } from 'byref/testing'

const library = await loadPlugin(
  `
info:
  name: library
  title: The library
  description: Knows books
commands:
  - command_name: count
    description: Counts the books of an author
    parameter:
      books: { type: array, description: The books, asset_ref_acceptable: true }
      author: { type: string, description: Whose books, example: Le Guin }
    response:
      description: how many there are
`,
  {
    count(param) {
      const { books, author } = param as { books: { author: string }[]; author: string }
      return { count: books.filter((book) => book.author === author).length }
    },
  },
)

const byLem = { books: 'asset://shelf/content', author: 'Lem' }
const agent = createAgent({
  model: scriptedModel([
    { calls: [{ name: 'library_count', arguments: byLem }] },
    'There is one book by Lem.',
  ]),
  plugins: [library],
})
await agent.assets.saveAsset({
  asset_id: 'shelf',
  content_type: 'application/json',
  content: [{ author: 'Le Guin' }, { author: 'Lem' }, { author: 'Le Guin' }],
})

const asked = agent.run({ messages: [{ role: 'user', content: 'How many books by Lem?' }] })
console.log((await asked.result).text)

const command = agent.run({
  messages: [
    {
      receiver: { role: 'plugin', name: 'library' },
      content_type: 'command',
      content: { command: 'count', param: { ...byLem, author: 'Le Guin' } },
    },
  ],
})
await command.result
console.log(JSON.stringify(command.messages.at(-1)?.content))
