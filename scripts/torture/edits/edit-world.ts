import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { createAgent } from '../../../src/agent/agent.ts'
import type { Agent } from '../../../src/agent/agent-contract.ts'
import { referencedInLog } from '../../../src/agent/referenced-in-log.ts'
import type { FullAssetStore } from '../../../src/assets/asset-store.ts'
import type { Assets } from '../../../src/assets/assets-contract.ts'
import { sha256 } from '../../../src/assets/bodies/digest.ts'
import { createAssets } from '../../../src/assets/create-assets.ts'
import type { Edit } from '../../../src/assets/edit/edit.ts'
import { createStore } from '../../../src/assets/stores/create-store.ts'
import { fsParts } from '../../../src/assets/stores/fs.ts'
import { emptyConversation } from '../../../src/core/events/conversation-state.ts'
import { foldAll } from '../../../src/core/events/fold.ts'
import type { ConversationLog } from '../../../src/log/conversation-log.ts'
import { createSqliteLog } from '../../../src/log/sqlite-log.ts'
import { answerStream } from '../../../src/models/answer-stream.ts'
import { allRecords } from '../runs/all-records.ts'
import { createLife, type Life } from '../runs/life.ts'
import { mortalLog } from '../runs/mortal-log.ts'
import { mortalParts } from './mortal-parts.ts'

/** A conversation whose model edits documents, in a folder with a SQLite log and a file store. */
export interface EditWorld {
  log: ConversationLog
  store: FullAssetStore
  agent: Agent
}

/** A document by its name, and the edits of the model, one version after the other. */
type Documents = Readonly<Record<string, { versions: readonly string[]; edits: readonly Edit[][] }>>

const CONVERSATION = 'c'
const LINES = Array.from({ length: 20_000 }, (_, i) => `line ${i + 1} é\n`).join('')
const DATA = `{\n  "a": 1.50,\n  "list": [ 1e400 ],\n  "id": 12345678901234567890\n}\n`

const FILES: Documents = {
  // Long enough to be read and written as a stream.
  text: {
    edits: [
      [{ find: 'line 9000 é', replace: 'changed 9000' }],
      [
        { insert: 'first\n', before: 'line 1 é' },
        { find: 'line 20000 é\n', replace: '' },
      ],
    ],
    versions: [
      LINES,
      LINES.replace('line 9000 é', 'changed 9000'),
      `first\n${LINES.replace('line 9000 é', 'changed 9000').replace('line 20000 é\n', '')}`,
    ],
  },
  data: {
    edits: [[{ op: 'replace', path: '/a', value: 2 }], [{ op: 'remove', path: '/list' }]],
    versions: [
      DATA,
      DATA.replace('1.50', '2'),
      DATA.replace('1.50', '2').replace('\n  "list": [ 1e400 ],', ''),
    ],
  },
}

const TABLE: Documents = {
  table: {
    edits: [[{ sql: 'SELECT n * 10 AS n FROM rows WHERE n > 1' }]],
    versions: ['[{"n":1},{"n":2},{"n":3}]', '[{"n":20},{"n":30}]'],
  },
}

/** The edited documents: a text and a JSON file, or a table. Queries take longer than anything else. */
export const DOCUMENTS = { files: FILES, table: TABLE }

/** Saves the documents in a new folder, before the first edit. */
export async function prepareEdits(folder: string, documents: Documents): Promise<void> {
  const store = createStore(fsParts(join(folder, 'assets')))
  const assets = createAssets({ store })
  const refs: Record<string, string> = {}
  for (const [name, { versions }] of Object.entries(documents)) {
    refs[name] = await saveDocument(assets, name, versions[0] ?? '')
  }
  await store.close?.()
  writeFileSync(join(folder, 'refs.json'), JSON.stringify(refs))
}

async function saveDocument(assets: Assets, name: string, content: string): Promise<string> {
  if (name === 'table') {
    const { table } = await assets.importFile(Buffer.from('n\n1\n2\n3\n'), { name: 'n.csv' })
    return table?.ref ?? ''
  }
  const mime = name === 'data' ? 'application/json' : 'text/plain'
  return (await assets.save(Buffer.from(content), mime, { name })).ref
}

function refsIn(folder: string): Record<string, string> {
  return JSON.parse(readFileSync(join(folder, 'refs.json'), 'utf8'))
}

/** Opens the world in a folder, for one life of a process. In this process, it ends when `released` is aborted. */
export function openEditWorld(
  folder: string,
  documents: Documents,
  life: Life = createLife(),
  released?: AbortSignal,
): EditWorld {
  const log = createSqliteLog(join(folder, 'log.sqlite'))
  const store = createStore(mortalParts(fsParts(join(folder, 'assets')), life, released))
  const model = editingModel(documents, refsIn(folder))
  const agent = createAgent({
    model,
    tools: ['edit_asset'],
    log: mortalLog(log, life),
    assets: { store },
  })
  return { log, store, agent }
}

/** Starts or continues the conversation, and runs it to its end. */
export async function playEdits({ agent, log }: EditWorld): Promise<void> {
  const isThere = (await log.find(CONVERSATION)) !== null
  const run = isThere
    ? agent.resume(CONVERSATION)
    : agent.run({ conversation: CONVERSATION, messages: [{ role: 'user', content: 'Edit them' }] })
  assert.equal((await run.result).text, 'done')
}

/** Checks what a dead process left: every asset is complete, and is one of the versions. */
export async function assertWholeAssets(folder: string, documents: Documents): Promise<void> {
  const store = createStore(fsParts(join(folder, 'assets')))
  const assets = createAssets({ store })
  const known = new Set(Object.values(documents).flatMap(({ versions }) => versions))
  for (const info of (await assets.list({ limit: 1000 })).assets) {
    const { bytes } = await assets.get(info.ref)
    assert.equal(sha256(bytes), info.digest, 'the digest of an asset')
    if (info.name === 'n.csv' && !info.table) continue
    assert.ok(known.has(await contentOf(assets, info.ref)), `${info.ref} is one of the versions`)
  }
  for (const [name, ref] of Object.entries(refsIn(folder))) {
    const content = await contentOf(assets, ref)
    assert.equal(content, documents[name]?.versions[0], `${name} is as it was`)
  }
  for await (const { problem } of store.verify()) assert.equal(problem, null)
  await store.close?.()
}

/**
 * Checks the end of the conversation: each edit succeeded once, each version has its content, and a sweep leaves one
 * line of versions.
 */
export async function assertSoundEdits(folder: string, documents: Documents): Promise<void> {
  await assertWholeAssets(folder, documents)
  const { log, store, agent } = openEditWorld(folder, documents)
  const { messages } = foldAll(emptyConversation, await allRecords(log, CONVERSATION))
  const results = messages.flatMap(({ metadata, content }) => {
    const { error } = metadata.tool_result ?? {}
    assert.equal(error, undefined, 'no edit failed')
    return metadata.tool_result ? [String(Object(content).assetRef)] : []
  })
  const { assets } = agent
  await assets.sweep({ referenced: referencedInLog(log), graceMs: 0 })
  for (const [name, ref] of Object.entries(refsIn(folder))) {
    const versions = await assets.versions(ref)
    const made = results.filter((one) => versions.some((version) => version.ref === one))
    assert.deepEqual(
      [ref, ...made],
      versions.map((version) => version.ref),
      `versions of ${name}`,
    )
    const contents: string[] = []
    for (const version of versions) contents.push(await contentOf(assets, version.ref))
    assert.deepEqual(contents, documents[name]?.versions, `contents of ${name}`)
  }
  await agent.close()
  await log.close()
  await store.close?.()
}

/** Returns the content of a document as text, and a table's rows as JSON. */
async function contentOf(assets: Assets, ref: string): Promise<string> {
  const { table } = await assets.info(ref)
  if (table) return JSON.stringify(await assets.resolve(`${ref}/content/rows`))
  return Buffer.from((await assets.get(ref)).bytes).toString()
}

/**
 * A model without memory, so that it survives any process. It finds the existing versions in the prompt, and makes
 * the next edit of each document.
 */
function editingModel(documents: Documents, refs: Record<string, string>): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'byref.testing',
    modelId: 'editing',
    supportedUrls: {},
    async doGenerate() {
      throw new Error('The editing model only streams')
    },
    async doStream({ prompt, abortSignal: signal }) {
      const calls = Object.entries(documents).flatMap(([name, { edits }]) => {
        const versions = versionsIn(prompt, refs[name] ?? '')
        const next = edits[versions.length - 1]
        return next
          ? [{ name: 'edit_asset', arguments: { ref: versions.at(-1), edits: next } }]
          : []
      })
      const text = calls.length > 0 ? 'I edit them.' : 'done'
      return { stream: answerStream({ text, calls }, { signal }) }
    },
  }
}

/** Returns the references of the versions that a prompt names, including the first one. */
function versionsIn(prompt: LanguageModelV4Prompt, first: string): string[] {
  const parts = prompt.flatMap((message) => (message.role === 'system' ? [] : [...message.content]))
  const versions = [first]
  for (const part of parts) {
    if (part.type !== 'tool-call' || Object(part.input).ref !== versions.at(-1)) continue
    const { toolCallId: id } = part
    const result = parts.find((one) => one.type === 'tool-result' && one.toolCallId === id)
    const made = /assetRef\\*":\s*\\*"(asset:[^"\\]+)/.exec(JSON.stringify(Object(result).output))
    if (made?.[1]) versions.push(made[1])
  }
  return versions
}
