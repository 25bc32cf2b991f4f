import assert from 'node:assert/strict'
import { run } from './program.mjs'

const { prompts, sqlite } = await run()
assert.equal(sqlite, 'Kept.')
console.log(JSON.stringify(prompts))
