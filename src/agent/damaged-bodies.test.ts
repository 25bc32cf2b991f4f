import { mkdtemp, readdir, readFile, rm, truncate, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { AssetStore, FullAssetStore } from '../assets/asset-store.ts'
import { PNG } from '../assets/fixtures/stores.ts'
import { createFsAssetStore } from '../assets/stores/fs.ts'
import { createMemoryAssetStore } from '../assets/stores/memory.ts'
import { defineTool } from '../boundary/tool.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { prompts, say } from './fixtures/agent.ts'

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

const tools = [
  defineTool({
    id: 'photo',
    description: '',
    inputSchema: { type: 'object' },
    execute: () => ({ picture: new Uint8Array([...PNG, 1, 2, 3]) }),
  }),
  defineTool({
    id: 'report',
    description: '',
    inputSchema: { type: 'object' },
    maxResultChars: 500,
    execute: () => ({ rows: Array.from({ length: 200 }, (_, n) => ({ n, name: `row ${n}` })) }),
  }),
  defineTool({
    id: 'count',
    description: '',
    inputSchema: { type: 'object', properties: { rows: { type: 'array' } } },
    execute: (input) => (input.rows as unknown[]).length,
  }),
]

function agentWith(
  store: AssetStore,
  log: ReturnType<typeof createMemoryLog>,
  turns: readonly ScriptedTurn[],
) {
  const model = scriptedModel(turns)
  const agent = createAgent({
    model,
    tools,
    log,
    assets: { store },
    capabilities: { takes: ['image/*'] },
    media: { timeoutMs: 50 },
  })
  return { agent, model }
}

/** A conversation with an attached picture, a picture of a tool, and a large result that a later call reads. */
async function talk(store: AssetStore, log: ReturnType<typeof createMemoryLog>): Promise<void> {
  const { agent } = agentWith(store, log, [
    {
      calls: [
        { name: 'photo', arguments: {} },
        { name: 'report', arguments: { _outputPath: '†state.report' } },
      ],
    },
    'Here they are.',
  ])
  const file = { type: 'file', mediaType: 'image/png', data: new Uint8Array(PNG) }
  const content = [{ type: 'text', text: 'Look' }, file]
  await agent.run({ conversation: 'c', messages: [{ role: 'user', content }] }).result
  await agent.close()
}

/** A new process that continues the conversation. */
async function goOn(store: AssetStore, log: ReturnType<typeof createMemoryLog>) {
  const count = { calls: [{ name: 'count', arguments: { rows: '†state.report.rows' } }] }
  const { agent, model } = agentWith(store, log, [count, 'I see.'])
  const { text } = await agent.run({ conversation: 'c', messages: say('And now?') }).result
  await agent.close()
  const events = (await log.read('c', { limit: 1000 })).map(({ event }) => event)
  return { text, shown: prompts(model).at(-1) ?? '', errors: events.flatMap(assetError) }
}

function assetError(event: ConversationEvent) {
  return event.type === 'ASSET_ERROR' ? event.payload : []
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && /\.(png|json|parquet|bin)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}

const DAMAGES: Record<string, (path: string) => Promise<void>> = {
  async truncated(path) {
    await truncate(path, 5)
  },
  deleted: unlink,
  async 'of other bytes'(path) {
    const bytes = await readFile(path)
    await writeFile(
      path,
      bytes.map((byte) => byte ^ 1),
    )
  },
}

describe('a conversation whose bodies are damaged', () => {
  it.each(Object.keys(DAMAGES))('goes on in a new process, each body %s in turn', async (how) => {
    let damaged = 0
    for (let i = 0; ; i++) {
      const rootDir = await mkdtemp(join(tmpdir(), 'byref-damaged-'))
      folders.push(rootDir)
      const log = createMemoryLog()
      const store = createFsAssetStore({ rootDir })
      await talk(store, log)
      await store.close?.()
      const file = (await filesIn(rootDir))[i]
      if (!file) break
      damaged++
      await DAMAGES[how]?.(file)
      const fresh = createFsAssetStore({ rootDir })
      const { text, shown, errors } = await goOn(fresh, log)
      expect(text, file).toBe('I see.')
      if (file.endsWith('.png')) {
        expect(shown).toContain('[unresolved image: asset://')
        expect(errors).toMatchObject([
          { code: 'storage_failed', ref: expect.stringMatching(/^asset:/), by: 'system' },
        ])
      } else expect(shown).toContain('storage_failed')
      // After it is saved again, it exists under its old name, too.
      const again = createFsAssetStore({ rootDir })
      const bytes = file.endsWith('.png')
        ? [new Uint8Array(PNG), new Uint8Array([...PNG, 1, 2, 3])]
        : []
      for (const one of bytes) await again.save(one, 'image/png')
      const created = (await log.read('c')).flatMap(({ event }) =>
        event.type === 'ASSET_CREATED' && event.payload.mime === 'image/png' ? event.payload : [],
      )
      if (bytes.length > 0) {
        for (const { assetId, size } of created) {
          expect((await again.get(assetId)).bytes.byteLength).toBe(size)
        }
      }
      await again.close?.()
      await fresh.close?.()
    }
    expect(damaged).toBe(3)
  })
})

describe('a conversation whose store fails', () => {
  const never = (): Promise<never> => new Promise(() => {})
  const fails = async (): Promise<never> => {
    throw new Error('the bucket is on fire')
  }

  it.each([
    ['throws when it is asked for bodies', { get: fails, open: fails }, 'the bucket is on fire'],
    ['never answers when it is asked for bodies', { get: never, open: never }, 'timed out'],
    [
      'throws whatever it is asked',
      { get: fails, open: fails, info: fails },
      'the bucket is on fire',
    ],
    ['never answers', { get: never, open: never, info: never }, 'timed out'],
  ] satisfies [string, Partial<FullAssetStore>, string][])(
    'goes on where it %s',
    async (_, broken, why) => {
      const log = createMemoryLog()
      const store = createMemoryAssetStore()
      await talk(store, log)
      const { agent, model } = agentWith({ ...store, ...broken } as AssetStore, log, ['I see.'])
      const { text } = await agent.run({ conversation: 'c', messages: say('And now?') }).result
      expect(text).toBe('I see.')
      expect(prompts(model).at(-1)).toContain('[unresolved image: asset://')
      const errors = (await log.read('c', { limit: 1000 })).flatMap(({ event }) =>
        assetError(event),
      )
      expect(errors.map(({ message }) => message)).toEqual([
        expect.stringContaining(why),
        expect.stringContaining(why),
      ])
      await agent.close()
    },
  )
})
