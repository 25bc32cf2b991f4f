// Twenty edits of a document of 300 kB. The model writes only the changes, and never reads or writes the rest.
// With OPENAI_API_KEY, a real model edits. Otherwise a script does.
import { createAgent, createAssets } from 'byref'
import { scriptedModel } from 'byref/testing'

const entry = (i: number) =>
  `Entry ${i}: pump ${i % 23} ran for ${(i % 11) + 1} hours and moved ${(i * 37) % 500} m³ of water. Checked by nobody.`
const text = Array.from({ length: 3650 }, (_, i) => entry(i + 1)).join('\n')
const assets = createAssets()
const original = await assets.save(Buffer.from(text), 'text/markdown', { name: 'logbook.md' })

/** Twenty corrections: the entry, and the new hours. */
const corrections = Array.from({ length: 20 }, (_, i) => ({ i: 180 * (i + 1), hours: 10 + i }))
let ref = original.ref
let correction = { i: 0, hours: 0 }

const change = () => {
  const find = entry(correction.i).split(' and moved')[0] ?? ''
  return { find, replace: find.replace(/\d+ hours/, `${correction.hours} hours`) }
}
const script = scriptedModel(({ prompt }) =>
  prompt.at(-1)?.role === 'user'
    ? { calls: [{ name: 'edit_asset', arguments: { ref, edits: [change()] } }] }
    : 'Corrected.',
)
const model = process.env.OPENAI_API_KEY
  ? (await import('@ai-sdk/openai')).openai(process.env.BYREF_MODEL ?? 'gpt-5-mini')
  : script
const agent = createAgent({ model, tools: ['search_asset', 'edit_asset'], assets })

let written = 0
for (correction of corrections) {
  const content = `In ${ref}, the pump of entry ${correction.i} ran for ${correction.hours} hours. Correct it.`
  let characters = 0
  for await (const event of agent.run({ messages: content })) {
    if (event.type === 'TOOL_CALL_ARGS') characters += event.delta.length
    if (event.type !== 'TOOL_CALL_RESULT') continue
    const { assetRef, diff, size } = JSON.parse(event.content)
    if (diff === undefined) continue
    ref = assetRef
    const changed = diff.split('\n').filter((line: string) => /^[-+]/.test(line))
    console.log(changed.join('\n'))
    console.log(`  the model wrote ${characters} characters, the document has ${size} bytes`)
  }
  written += characters
}
console.log(`all edits: ${written} characters, instead of ${20 * text.length} for whole files`)

const versions = await assets.versions(ref)
console.log(`${versions.length} versions, from ${versions[0]?.ref} to ${versions.at(-1)?.ref}`)

// The previous version still exists. You can also undo an edit with its inverse.
const { find, replace } = change()
const undone = await assets.edit(ref, [{ find: replace, replace: find }])
console.log('the last edit undone exactly:', undone.asset.digest === versions.at(-2)?.digest)
