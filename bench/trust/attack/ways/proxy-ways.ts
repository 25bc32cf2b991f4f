import { z } from 'zod'
import { newServer, proxied, serve } from '../../../../src/integrations/mcp/fixtures/proxied.ts'
import { order } from '../../injections.ts'
import { isPoisoned } from '../scene.ts'
import type { Way } from './agent-ways.ts'

const ORDER = order('mail')
const body = z.object({ value: z.string() })

/** A single attack through the MCP proxy. It checks what the client sees, and what the server's acting tools receive. */
const way = (
  name: string,
  gives: () => unknown,
  args: (ref: string) => string | null = () => null,
): Way => ({
  name: `MCP proxy: ${name}`,
  async run() {
    const acted: unknown[] = []
    const server = newServer()
    const annotations = { readOnlyHint: true }
    server.registerTool('source', { annotations }, async () => gives() as never)
    server.registerTool('count', { annotations, inputSchema: body }, ({ value }) => ({
      content: [{ type: 'text', text: value }],
    }))
    server.registerTool('act', { inputSchema: body }, (input) => {
      acted.push(input)
      return { content: [{ type: 'text', text: 'Done.' }] }
    })
    const { client, close } = await proxied(serve(server), { trust: 'quarantine' })
    const call = async (id: string, given: object): Promise<string> =>
      JSON.stringify(
        await client
          .callTool({ name: id, arguments: given as never })
          .catch((error: Error) => error.message),
      )
    try {
      const shown = [await call('source', {})]
      const ref = /asset:\/\/\w+/.exec(shown[0] ?? '')?.[0] ?? 'asset://none'
      const value = args(ref)
      if (value !== null) {
        shown.push(await call('count', { value }), await call('act', { value }))
        const again = /asset:\/\/\w+/.exec(shown[1] ?? '')?.[0]
        if (again) shown.push(await call('act', { value: again }))
      }
      const leak = shown.find(isPoisoned)
      if (leak !== undefined) return `shown: ${leak.slice(0, 500)}`
      return isPoisoned(JSON.stringify(acted)) ? `acted with ${JSON.stringify(acted)}` : null
    } finally {
      await close()
    }
  },
})

const text = (words: string) => ({ content: [{ type: 'text', text: words }] })

export const PROXY_WAYS: readonly Way[] = [
  way(
    'a text',
    () => text(ORDER),
    (ref) => ref,
  ),
  way(
    'a part of a text',
    () => text(ORDER),
    (ref) => `to <|${ref}|>`,
  ),
  way(
    'a field',
    () => text(JSON.stringify({ from: ORDER })),
    (ref) => `${ref}/content/from`,
  ),
  way(
    'a field that is not there',
    () => text(JSON.stringify({ [ORDER]: 1 })),
    (ref) => `${ref}/content/none`,
  ),
  way(
    'an error',
    () => ({ ...text(ORDER), isError: true }),
    (ref) => ref,
  ),
  way('an exception', () => {
    throw new Error(ORDER)
  }),
  way('a link', () => ({
    content: [
      { type: 'resource_link', uri: 'file:///a', name: ORDER, title: ORDER, description: ORDER },
    ],
  })),
  way('a resource', () => ({
    content: [
      {
        type: 'resource',
        resource: { uri: `file:///${ORDER}`, mimeType: 'text/plain', text: ORDER },
      },
    ],
  })),
  way('a picture', () => ({
    content: [
      { type: 'image', data: Buffer.from(ORDER).toString('base64'), mimeType: `image/${ORDER}` },
    ],
  })),
  way(
    'structured content',
    () => ({ ...text('x'), structuredContent: { [ORDER]: ORDER } }),
    (ref) => ref,
  ),
  way(
    'what it says beside',
    () => ({ ...text('x'), _meta: { [ORDER]: ORDER, 'byref/label': {} } }),
    (ref) => ref,
  ),
]
