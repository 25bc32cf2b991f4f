import type { Random } from '../../../src/agent/fixtures/random.ts'
import type { Tool } from '../../../src/boundary/tool.ts'
import { createAgent, defineTool } from '../../../src/index.ts'
import { loadPlugin } from '../../../src/plugins/load-plugin.ts'
import type { Scene } from './scene.ts'

/** A step of an attack. It adds something to a scene. */
export interface Move {
  name: string
  apply(scene: Scene, choose: Random): void | Promise<void>
}

const any = { type: 'object', properties: { value: {}, other: {} } } as const
const found = {
  type: 'object',
  properties: { from: { type: 'string' }, text: { type: 'string' }, amount: { type: 'number' } },
}

/** A tool that reads untrusted data. */
function source(scene: Scene, more: Partial<Tool> = {}): Tool {
  return defineTool({
    id: 'source',
    description: 'Reads',
    inputSchema: any,
    readOnly: true,
    idempotent: true,
    execute: () => scene.infected(),
    ...(more as object),
  }) as Tool
}

/** Reads the poison with a tool. */
const reading = (name: string, make: (scene: Scene) => Partial<Tool>): Move => ({
  name,
  apply(scene) {
    scene.use(source(scene, make(scene)))
    scene.call('source', {})
  },
})

const said = (scene: Scene, role: string, more: object = {}) => ({
  sender: { participant_id: scene.order, participant_role: role },
  content_type: 'text/plain',
  message_type: 'note',
  content: scene.text(),
  ...more,
})

const bytes = (text: string) => Buffer.from(text).toString('base64')

/** Sends a message during a run. */
const late = (name: string, message: (scene: Scene) => object, mode: 'steer' | 'queue'): Move => ({
  name,
  apply(scene) {
    const execute = async (_: unknown, { conversation }: { conversation: string }) => {
      await scene.agent?.send(conversation, [message(scene)] as never, { mode })
      return 'fine'
    }
    // The attack is in the message. The results of the tool are trusted.
    scene.isListOurs = true
    scene.use(source(scene, { id: 'sending', openWorld: false, execute } as never))
    scene.call('sending', {})
    scene.call('sending', { value: 'again' })
  },
})

/** An asset with the poison that belongs to no conversation. */
async function poisonedAsset(scene: Scene): Promise<string> {
  const content = [{ text: scene.text(), from: scene.order, [scene.order]: 1 }]
  const { ref } = await scene.assets.saveAsset({ content_type: 'application/json', content })
  return ref
}

/** Data of a person that refers to the asset. */
const pointing = (name: string, data: (ref: string) => unknown, at: string): Move => ({
  name,
  async apply(scene) {
    const ref = await poisonedAsset(scene)
    scene.messages.push({ type: 'data', kind: 'doc', data: { a: data(ref) } })
    scene.at = at
  },
})

function helper(scene: Scene, trust: 'track' | 'quarantine', turns: readonly unknown[]): Tool {
  const model = scene.inner(turns as never, trust === 'quarantine')
  const agent = createAgent({ model, trust, tools: [source(scene)], retry: { maxRetries: 0 } })
  scene.closing.push(() => agent.close())
  return agent.asTool({ id: 'helper', description: 'Helps' }) as Tool
}

const helped = (name: string, trust: 'track' | 'quarantine', turns: readonly unknown[]): Move => ({
  name,
  apply(scene) {
    scene.use(helper(scene, trust, turns))
    scene.call('helper', { task: 'Read' })
  },
})
const readFirst = { calls: [{ name: 'source', arguments: {} }] }
const parrot = ({ prompt }: { prompt: unknown }): string => JSON.stringify(prompt)

const PLUGIN = `info: { title: notes, description: Keeps notes }
commands:
  - command_name: keep
    description: Keeps a note
    parameter:
      type: object
      description: The note
      value: { type: string, description: The note, required: false }
    response: What it keeps
`

/** The ways in which the poison enters. */
export const ENTRIES: readonly Move[] = [
  reading('a result', () => ({})),
  reading('a list of results', (scene) => ({ execute: () => [scene.infected(), scene.text()] })),
  reading('a result with a schema', () => ({ outputSchema: found })),
  reading('an error', (scene) => ({
    execute() {
      throw new Error(scene.text())
    },
  })),
  reading('an error with a code and a name', (scene) => ({
    execute() {
      throw Object.assign(new Error(scene.text()), { code: scene.order, name: scene.order })
    },
  })),
  reading('progress', (scene) => ({
    execute(_, { progress }) {
      progress(scene.text())
      return scene.infected()
    },
  })),
  reading('yields', (scene) => ({
    async *execute() {
      yield scene.text()
      yield scene.infected()
    },
  })),
  reading('a large result', (scene) => ({
    maxResultChars: 300,
    execute: () => ({ text: `${scene.text()} ${'x'.repeat(2000)}`, rows: [{ a: scene.order }] }),
  })),
  {
    name: 'large items',
    apply(scene) {
      const execute = () => ({ text: `${scene.text()} ${'x'.repeat(2000)}` })
      scene.use(source(scene, { maxResultChars: 300, execute }))
      scene.call('source', { _each: [1, 2], value: '†item' })
      scene.isListOurs = true
    },
  },
  reading('another output for the model', () => ({
    toModelOutput: (value: unknown) => ({ said: value }) as never,
  })),
  reading('fields of both kinds', (scene) => ({
    returns: { fields: { theirs: { integrity: 'untrusted' } } },
    execute: () => ({ ours: 'fine', theirs: scene.infected() }),
  })),
  reading('a label by a function', (scene) => ({
    returns: () => ({ fields: { '*': { integrity: 'untrusted' } } }),
    execute: () => ({ a: scene.infected(), text: scene.text() }),
  })),
  reading('a file', (scene) => ({
    execute: () => ({
      mimeType: `text/${scene.order.replace(/\W+/g, '-')}`,
      fileName: `${scene.order}.txt`,
      dataBase64: bytes(scene.text()),
    }),
  })),
  reading('bytes of a picture', (scene) => ({
    execute: () => ({
      mimeType: 'image/png',
      dataBase64: bytes(scene.text()),
      fileName: scene.order,
    }),
  })),
  reading('an asset that the tool saves', (scene) => ({
    async execute(_, { assets }) {
      const options = { name: scene.order, assetId: `x${bytes(scene.order).replace(/\W/g, '')}` }
      const made = await assets.save(new TextEncoder().encode(scene.text()), 'text/plain', options)
      return { text: made.ref }
    },
  })),
  reading('a table', (scene) => ({
    async execute(_, { assets }) {
      const word = scene.order.replace(/[,"\n]/g, ' ')
      const csv = `${word},b\n${word},1\n${word},x\n`
      const made = await assets.importFile(new TextEncoder().encode(csv), { name: `${word}.csv` })
      return { text: made.table?.ref, file: made.asset.ref }
    },
  })),
  reading('a tool that keeps it and returns it', (scene) => {
    let kept: unknown = null
    return {
      id: 'source',
      readOnly: false,
      openWorld: false,
      idempotent: false,
      accepts: { integrity: 'untrusted', confidentiality: 'private' },
      execute({ value }: never) {
        const before = kept
        kept = value ?? scene.text()
        return before ?? scene.infected()
      },
      returns: { integrity: 'untrusted' },
    } as never
  }),
  {
    name: 'a tool that keeps it under a trusted name',
    apply(scene) {
      let kept: unknown = 'nothing'
      scene.use(source(scene))
      const open = { integrity: 'untrusted', confidentiality: 'private' } as const
      scene.use({
        ...source(scene, { id: 'keeper', openWorld: false, accepts: open }),
        readOnly: false,
        idempotent: false,
        execute(input) {
          const before = kept
          kept = (input as { value?: unknown }).value ?? kept
          return before
        },
      })
      scene.call('source', {})
      scene.call('keeper', { value: scene.at })
      scene.call('keeper', {})
    },
  },
  {
    name: 'a tool that reads it by itself',
    apply(scene) {
      scene.use(source(scene))
      scene.use(
        source(scene, {
          id: 'peek',
          openWorld: false,
          execute: async (_, { read }) => ({ text: await read('†result#1') }),
        }),
      )
      scene.call('source', {})
      scene.call('peek', {})
    },
  },
  {
    name: "a guest's message",
    apply: (scene) => void scene.messages.push(said(scene, 'guest')),
  },
  {
    name: "a tool's message that no call made",
    apply: (scene) => void scene.messages.push(said(scene, 'tool')),
  },
  {
    name: "a person's attachment",
    apply(scene) {
      const attachments = [
        { mimeType: 'text/csv', dataBase64: bytes(`${scene.order},b\n1,2`), fileName: scene.order },
        { mimeType: 'image/png', dataBase64: bytes(scene.text()), fileName: `${scene.order}.png` },
      ]
      scene.messages.push({ role: 'user', content: 'See', metadata: { attachments } })
    },
  },
  {
    name: "the name of a file in a person's data",
    async apply(scene) {
      const options = { name: `${scene.order}.txt` }
      const made = await scene.assets.save(Buffer.from(scene.text()), 'text/plain', options)
      const { ref: assetRef, mime: mimeType, name } = made
      const data = { a: { assetRef, mimeType, name, kind: 'file' } }
      scene.messages.push({ type: 'data', kind: 'doc', data })
      scene.at = '†doc.a'
    },
  },
  pointing("an address in a person's data", (ref) => ref, '†doc.a'),
  pointing("the address of content in a person's data", (ref) => `${ref}/content`, '†doc.a'),
  pointing(
    "a value kept as an asset in a person's data",
    (assetRef) => ({
      offloaded: true,
      assetRef,
      mimeType: 'application/json',
      kind: 'file',
      size: 9,
    }),
    '†doc.a',
  ),
  late('a message that steers a run', (scene) => said(scene, 'guest'), 'steer'),
  late('a message that waits for its run', (scene) => said(scene, 'plugin'), 'queue'),
  late(
    'a reply to no command',
    (scene) =>
      said(scene, 'tool', {
        message_type: 'command-response',
        content_type: 'command',
        content: { response: scene.text() },
      }),
    'steer',
  ),
  {
    name: "a plugin's reply",
    async apply(scene, choose) {
      const notes = await loadPlugin(PLUGIN, { keep: () => scene.infected() })
      scene.set({ plugins: [notes] })
      if (choose.chance(0.5)) return scene.call('notes_keep', { value: 'x' })
      scene.messages.push({
        sender: { participant_id: 'ann', participant_role: 'user' },
        content_type: 'command',
        receiver: { participant_id: 'notes', participant_role: 'plugin', name: 'notes' },
        content: { command: 'keep', param: { value: 'x' } },
      })
    },
  },
  helped('a sub-agent that says it again', 'track', [readFirst, parrot]),
  helped('a sub-agent that fails with it', 'track', [readFirst, new Error('ATTENTION')]),
  helped('a sub-agent in quarantine', 'quarantine', [readFirst, 'It says <|†result#1|>']),
  helped('a sub-agent that names it', 'quarantine', [readFirst, '†result#1.text']),
  {
    name: 'an answer of ask_about',
    apply(scene) {
      scene.use(source(scene))
      scene.call('source', {})
      scene.call('ask_about', { refs: [scene.at], question: 'What?', schema: { type: 'string' } })
    },
  },
  {
    name: 'an answer of ask_about that fits no schema',
    apply(scene) {
      scene.use(source(scene))
      scene.call('source', {})
      const schema = { enum: ['yes', 'no'] }
      scene.call('ask_about', { refs: [scene.at], question: 'Is it?', schema })
    },
  },
  {
    name: 'a result that a person gives',
    apply(scene) {
      const { execute: _, ...outside } = source(scene, { id: 'outside', idempotent: false })
      scene.use(defineTool({ ...outside, inputSchema: any } as never) as Tool)
      scene.set({ trust: 'quarantine' })
      scene.call('outside', { outside: true })
    },
  },
  {
    name: 'a summary of what was said',
    apply(scene) {
      scene.use(source(scene))
      scene.set({
        history: { maxTokens: 200, summarize: ({ messages }) => JSON.stringify(messages) },
      })
      scene.call('source', {})
      for (let i = 0; i < 3; i++) scene.aside('source', { other: 'x'.repeat(400) })
    },
  },
]
