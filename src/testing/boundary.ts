import assert from 'node:assert/strict'
import type { Assets } from '../assets/assets-contract.ts'
import { checkOptions, is } from '../core/check-options.ts'
import type { TestFunction } from './conversation-log.ts'

/** A tool for the framework under test, in a form that any framework can use. */
export interface PlainTool {
  name: string
  /** The JSON Schema of its parameters. */
  parameters: Record<string, unknown>
  run(input: Record<string, unknown>): unknown
}

/** One conversation of a framework that passes by reference. */
export interface BoundarySession {
  /** The assets in which it stores bytes and large values. */
  assets: Assets
  /** Calls a tool as a model would, after the earlier calls. Resolves to the text that the model sees of the result. */
  call(name: string, args: Record<string, unknown>): Promise<string>
}

/** What the framework supports. */
export interface BoundaryMedium {
  /** Whether `†result#1` names an earlier result. Default true. */
  hasResults?: boolean
}

/** Bytes that are not text: a small padded PNG. */
const PICTURE = Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10, ...Array(9_000).fill(250)])
const ROWS = Array.from({ length: 3_000 }, (_, id) => ({
  id,
  city: `city ${id}`,
  note: 'n'.repeat(20),
}))

const base64 = { type: 'string', contentEncoding: 'base64', asset_ref_acceptable: true }
const text = { type: 'string', asset_ref_acceptable: true }
const withParameters = (properties: object) => ({ type: 'object', properties })

/**
 * Tests that a framework passes values by reference. The agent, the AI SDK wrapper and the MCP proxy pass them, and
 * your own integration should, too.
 *
 * @param open Opens a conversation with these tools. Called once per test.
 * @param test Your runner's `test` function.
 */
export function testBoundary(
  open: (tools: readonly PlainTool[]) => Promise<BoundarySession>,
  test: TestFunction,
  medium?: BoundaryMedium,
): void {
  const { hasResults = true } = checkOptions<BoundaryMedium>('testBoundary', medium, {
    hasResults: is.boolean,
  })

  const check = (name: string, run: (session: TestedSession) => Promise<void>) =>
    test(name, async () => {
      const given: Record<string, unknown>[] = []
      const take = (input: Record<string, unknown>) => {
        given.push(input)
        return 'taken'
      }
      const session = await open([
        { name: 'picture', parameters: withParameters({}), run: () => ({ image: PICTURE }) },
        { name: 'rows', parameters: withParameters({}), run: () => ({ rows: ROWS }) },
        { name: 'small', parameters: withParameters({}), run: () => ({ city: 'Bonn', n: 7 }) },
        { name: 'look', parameters: withParameters({ image: base64 }), run: take },
        { name: 'read', parameters: withParameters({ text, at: {} }), run: take },
      ])
      await run({ ...session, given })
    })

  check('shows a reference in place of bytes', async ({ call, assets }) => {
    const shown = await call('picture', {})
    assert.ok(shown.length < 2_000, `shown are ${shown.length} characters`)
    const { bytes } = await assets.get(refIn(shown))
    assert.deepEqual(new Uint8Array(bytes), PICTURE)
  })

  check('shows a large result in short, and keeps all of it', async ({ call, assets }) => {
    const shown = await call('rows', {})
    assert.ok(shown.length < 6_000, `shown are ${shown.length} characters`)
    const rows = (await assets.resolve(`${refIn(shown)}/content/rows`)) as unknown[]
    assert.equal(rows.length, ROWS.length)
  })

  check('shows a small result as it is', async ({ call }) => {
    assert.match(await call('small', {}), /Bonn/)
  })

  check('gives a tool the bytes behind a reference', async ({ call, given }) => {
    await call('look', { image: refIn(await call('picture', {})) })
    assert.equal(given[0]?.image, Buffer.from(PICTURE).toString('base64'))
  })

  check(
    'gives a tool the text behind a reference, and puts it into longer text',
    async (session) => {
      const { call, given, assets } = session
      const { ref } = await assets.save(Buffer.from('a note'), 'text/plain')
      await call('read', { text: ref })
      await call('read', { text: `It says <|${ref}|>.` })
      assert.deepEqual(
        given.map((one) => one.text),
        ['a note', 'It says a note.'],
      )
    },
  )

  check('does not follow references in the values that it passes', async (session) => {
    const { call, given, assets } = session
    const inner = await assets.save(Buffer.from('inner'), 'text/plain')
    const { ref } = await assets.save(Buffer.from(inner.ref), 'text/plain')
    await call('read', { text: ref })
    assert.equal(given[0]?.text, inner.ref)
  })

  check('tells of a reference that names nothing, and does not run the tool', async (session) => {
    const { call, given } = session
    assert.match(await call('look', { image: 'asset://nothing-there' }), /nothing-there/)
    assert.deepEqual(given, [])
  })

  if (!hasResults) return

  check('gives a tool a field of an earlier result, with its type', async ({ call, given }) => {
    await call('small', {})
    await call('read', { text: '†result#1.city', at: '†result#1.n' })
    await call('read', { text: 'In <|†result#1.city|>' })
    assert.deepEqual(given, [{ text: 'Bonn', at: 7 }, { text: 'In Bonn' }])
  })

  check('reads on in a result that it showed in short', async ({ call, given }) => {
    await call('rows', {})
    await call('read', { at: '†result#1.rows[2999].city' })
    assert.deepEqual(given, [{ at: 'city 2999' }])
  })

  check('gives a tool the bytes of an earlier result', async ({ call, given }) => {
    await call('picture', {})
    await call('look', { image: '†result#1.image' })
    assert.equal(given[0]?.image, Buffer.from(PICTURE).toString('base64'))
  })
}

interface TestedSession extends BoundarySession {
  /** The inputs of `look` and `read`. */
  given: Record<string, unknown>[]
}

function refIn(shown: string): string {
  const [ref] = /asset:\/\/[\w-]+/.exec(shown) ?? []
  assert.ok(ref, `no reference is shown: ${shown.slice(0, 200)}`)
  return ref
}
