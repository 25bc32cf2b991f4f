import { readFile } from 'node:fs/promises'
import { createAgent } from '../../src/agent/agent.ts'
import type { MessageInput } from '../../src/core/messages/to-message.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import type { Sample } from './sample.ts'

const data = (name: string) =>
  readFile(new URL(`../../node_modules/vega-datasets/data/${name}`, import.meta.url))

const user = { participant_id: 'sam', participant_role: 'user', name: 'Sam' }
const bot = { participant_id: 'bot', participant_role: 'assistant', name: 'Bot' }
const plugin = { participant_id: 'build', participant_role: 'plugin', name: 'Build server' }
const system = { participant_id: 'system', participant_role: 'system' }

/** Messages of all types, contents and metadata, valid and invalid. */
function messages(refs: { picture: string; sound: string; pdf: string; table: string }): object[] {
  return [
    {
      sender: user,
      content: 'One of everything, please.',
      metadata: { attribution: 'via the phone', attachments: [{ assetRef: refs.picture }] },
    },
    {
      sender: bot,
      content_type: 'text/markdown',
      content: `Here it is. A picture: ![Two browsers’ logos](<|${refs.picture}|>)\n\n| kind | address |\n|---|---|\n| table | <|${refs.table}|> |\n| value | †state.user.name |\n\n\`\`\`json\n{ "code": true }\n\`\`\``,
      metadata: {
        footer_items: ['1,204 → 61 tokens', 'in 0.8 s'],
        reasoning: [{ text: 'They want to see it all. I begin with a picture.' }],
        debug: {
          model: 'example',
          usage: { inputTokens: 1204, outputTokens: 61 },
          headers: { authorization: 'Bearer secret' },
        },
      },
    },
    {
      sender: system,
      content_type: 'data',
      content: {
        type: 'data',
        kind: 'state',
        data: { user: { name: 'Sam', plan: 'team' }, visits: 3 },
        description: 'What is known of who asks',
      },
    },
    {
      sender: plugin,
      message_type: 'notice',
      content: 'The build of main passed.',
      metadata: { href: '/assets', attribution: 'build 812' },
    },
    {
      sender: plugin,
      message_type: 'notice',
      content: 'The release page is public now.',
      metadata: { href: 'https://example.com/releases' },
    },
    { sender: bot, message_type: 'note', content: 'I remember: Sam wants short answers.' },
    {
      sender: user,
      message_type: 'command',
      content_type: 'command',
      content: { command: 'build/run', param: { branch: 'main' } },
    },
    {
      sender: plugin,
      message_type: 'command-response',
      content_type: 'command',
      content: { command: 'build/run', response: { ok: true, seconds: 41 } },
    },
    {
      sender: plugin,
      message_type: 'log',
      content: 'cache warmed in 12 ms',
      metadata: { level: 'info' },
    },
    {
      sender: plugin,
      message_type: 'log',
      content: 'retrying upload',
      metadata: { level: 'warn', attempt: 2 },
    },
    { sender: user, content_type: 'asset_ref', content: refs.table },
    {
      sender: user,
      content: 'A sound and a document.',
      metadata: { attachments: [{ assetRef: refs.sound }, { assetRef: refs.pdf }] },
    },
    {
      sender: plugin,
      content_type: 'text/html',
      content:
        '<h1>A page</h1><p>It runs in a box without scripts.</p><script>document.body.innerHTML = "run"</script>',
    },
    {
      sender: plugin,
      content_type: 'application/json',
      content: {
        rows: [
          { city: 'Oslo', n: 3 },
          { city: 'Bergen', n: null },
        ],
        nested: { deep: { er: true } },
      },
    },
    {
      sender: bot,
      content: 'Two calls.',
      metadata: {
        tool_calls: [
          { id: 'k1', name: 'weather', arguments: { city: 'Oslo' } },
          { id: 'k2', name: 'weather', arguments: '{"city":"Bergen"}' },
        ],
      },
    },
    {
      sender: { participant_id: 'weather', participant_role: 'tool', name: 'weather' },
      message_type: 'note',
      content: '4 °C, rain',
      metadata: { tool_result: { tool_call_id: 'k1' } },
    },
    {
      sender: { participant_id: 'weather', participant_role: 'tool', name: 'weather' },
      message_type: 'note',
      content: 'No such station',
      metadata: {
        tool_result: {
          tool_call_id: 'k2',
          error: { code: 'not_found', message: 'No such station' },
        },
      },
    },
    {
      sender: { participant_id: 'weather', participant_role: 'tool', name: 'weather' },
      message_type: 'note',
      content: 'Nobody asked',
      metadata: { tool_result: { tool_call_id: 'nobody' } },
    },
    {
      sender: bot,
      content: 'A call that nobody answered.',
      metadata: { tool_calls: [{ id: 'k3', name: 'search', arguments: { text: 'byref' } }] },
    },
    {
      sender: plugin,
      message_type: 'notice',
      content: 'This link is refused.',
      metadata: { href: 'javascript:alert(1)' },
    },
    {
      sender: plugin,
      content: 'Malformed metadata leave the rest standing.',
      metadata: {
        attribution: 7,
        footer_items: [{ no: 'text' }, 'kept'],
        tool_calls: 'none',
        unknown: { kept: 'byte for byte' },
      },
    },
    {
      sender: bot,
      content:
        'That was a long word: Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft, and <|asset://gone|> leads nowhere.',
      metadata: { incomplete: true },
    },
  ]
}

/** A tone of one second at 440 Hz, as WAV. */
function tone(): Uint8Array {
  const rate = 8_000
  const sound = Buffer.alloc(44 + rate)
  sound.write('RIFF', 0)
  sound.writeUInt32LE(36 + rate, 4)
  sound.write('WAVEfmt ', 8)
  sound.writeUInt32LE(16, 16)
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    sound.writeUInt16LE(value, at)
  sound.writeUInt32LE(rate, 24)
  sound.writeUInt32LE(rate, 28)
  sound.write('data', 36)
  sound.writeUInt32LE(rate, 40)
  for (let i = 0; i < rate; i++)
    sound[44 + i] = 128 + Math.round(60 * Math.sin((i * 2 * Math.PI * 440) / rate))
  return sound
}

const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 120]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length 52>>stream
BT /F1 24 Tf 30 60 Td (Passed by reference.) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
%%EOF
`

/** One message of every type, and one with every possible problem. */
export const everyKind: Sample = {
  name: 'every-kind',
  title: 'Every kind of message',
  description: 'All types, contents and metadata of messages, well-formed and malformed.',
  async make({ log, assets, attach }, conversation) {
    const agent = createAgent({ model: scriptedModel([]), log, assets })
    const picture = await attach('logo.png', await data('ffox.png'))
    const sound = await attach('tone.wav', tone())
    const pdf = await attach('note.pdf', Buffer.from(PDF))
    const table = await attach('sp500.csv', await data('sp500.csv'))
    const refs = {
      picture: picture.ref,
      sound: sound.ref,
      pdf: pdf.ref,
      table: table.table as string,
    }
    for (const message of messages(refs)) await agent.add(conversation, message as MessageInput)
  },
}
