import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editWhileSaving } from './edit-while-saving.ts'
import { bodyInChunks } from './fixtures/body-in-chunks.ts'
import type { TextEdit } from './text-edits.ts'

const letters = (limits: fc.ArrayConstraints) =>
  fc.array(fc.constantFrom('a', 'b', 'c', '\n'), limits).map((parts) => parts.join(''))
const find = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 })

/** The edits of a text, and what each of them makes of it. */
function editsOf(found: string, text: string): [edit: TextEdit, becomes: string][] {
  return [
    [{ find: found, replace: text }, text],
    [{ insert: text, before: found }, text + found],
    [{ insert: text, after: found }, found + text],
  ]
}

describe('editWhileSaving', () => {
  it('edits a text that occurs once, in chunks of any size, and otherwise saves nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        letters({ maxLength: 40 }),
        find.map((parts) => parts.join('')),
        letters({ maxLength: 5 }),
        fc.integer({ min: 1, max: 9 }),
        async (whole, wanted, text, chunkSize) => {
          const at = whole.indexOf(wanted)
          const isOnce = at >= 0 && whole.indexOf(wanted, at + 1) < 0
          for (const [edit, becomes] of editsOf(wanted, text)) {
            const edited = await editWhileSaving(bodyInChunks(whole, chunkSize), [edit], (body) =>
              new Response(body).text(),
            )
            const expected = whole.slice(0, at) + becomes + whole.slice(at + wanted.length)
            expect(edited?.saved ?? null).toBe(isOnce ? expected : null)
          }
        },
      ),
      { numRuns: 300 },
    )
  })
})
