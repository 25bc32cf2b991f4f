/**
 * Measures the tokens that quarantine costs, by the length of the values. An agent with two tools, and one with
 * ten, makes ten calls that read a value and store it as a note, with trust off and in quarantine. It counts the
 * tokens of all requests with o200k_base. `node bench/trust/tokens.ts`, after `npm install` in bench
 */
import { createAgent, defineTool, type Tool } from '../../src/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { type Asked, costOf } from '../by-reference/cost.ts'
import { ordinaryTools } from './ordinary-tools.ts'

const WORDS =
  'We offer forty chairs, as we said in our last call; they are there in about two weeks. '
const text = { type: 'string' } as const
const object = (properties: object) => ({ type: 'object', properties }) as const

/** A value of the given length as JSON, and the schema that its tool declares. */
const KINDS = {
  'a text': (length: number) => ({ value: WORDS.repeat(40).slice(0, length), schema: text }),
  'a text, no schema': (length: number) => ({ value: WORDS.repeat(40).slice(0, length) }),
  'an object': (length: number) => ({
    value: { from: 'ann@work.example', text: WORDS.repeat(40).slice(0, Math.max(1, length - 39)) },
    schema: object({ from: text, text }),
  }),
}

async function cost(
  trust: 'off' | 'quarantine',
  { value, schema }: { value: unknown; schema?: object },
  others: readonly Tool[],
): Promise<number> {
  const tools = [
    ...others,
    defineTool({
      id: 'read_mail',
      description: 'Reads a mail',
      readOnly: true,
      execute: () => value,
      inputSchema: object({ id: { type: 'integer' } }),
      ...(schema ? { outputSchema: schema as typeof text } : {}),
    }),
    defineTool({
      id: 'save_note',
      description: 'Keeps a note',
      openWorld: false,
      execute: () => 'saved',
      inputSchema: object({
        title: text,
        text: { ...text, 'x-accepts': { integrity: 'untrusted' } },
      }),
    }),
  ] as Tool[]
  const turns = Array.from({ length: 10 }, (_, i) => {
    const note = { title: 'Mail', text: `†result#${i}${typeof value === 'string' ? '' : '.text'}` }
    const [name, args] = i % 2 === 0 ? ['read_mail', { id: i }] : ['save_note', note]
    return { calls: [{ id: `c${i}`, name: name as string, arguments: args }] }
  })
  const answers = [...turns, 'Done.']
  const model = scriptedModel(answers)
  const agent = createAgent({ model, trust, tools, instructions: 'You do what the user asks.' })
  await agent.run({ messages: 'Keep my five newest mails as notes' }).result
  await agent.close()
  const asked = model.requests.map(({ prompt, tools = [] }, i): Asked => {
    return { prompt, tools, answer: answers[i] ?? '' }
  })
  return costOf(asked).input
}

console.log('| values | tools | off | quarantine | × |')
console.log('|---|---|---|---|---|')
for (const count of [2, 10]) {
  const own = ['read_mail', 'save_note']
  const others = ordinaryTools(() => {})
    .filter(({ id }) => !own.includes(id))
    .slice(0, count - 2)
  for (const [kind, make] of Object.entries(KINDS)) {
    for (const length of [50, 95, 200, 2000]) {
      const off = await cost('off', make(length), others)
      const quarantine = await cost('quarantine', make(length), others)
      const ratio = (quarantine / off).toFixed(2)
      console.log(
        `| ${kind}, ${length} characters | ${count} | ${off} | ${quarantine} | ${ratio} |`,
      )
    }
  }
}
