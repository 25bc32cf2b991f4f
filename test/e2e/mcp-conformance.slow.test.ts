import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { serve } from '@hono/node-server'
import { createAgent } from 'byref'
import { createMcpServer } from 'byref/mcp'
import { scriptedModel } from 'byref/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addEverything } from '../conformance/everything.ts'

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const SUITE = path('node_modules/@modelcontextprotocol/conformance/dist/index.js')
const EXPECTED = path('test/conformance/expected-failures.yaml')

let url = ''
let server: ReturnType<typeof serve>

beforeAll(async () => {
  const agent = createAgent({ model: scriptedModel([]) })
  await agent.assets.save(Buffer.from('hello'), 'text/plain', { name: 'hello.txt' })
  const { fetch } = createMcpServer({ agent, extend: addEverything })
  const port = await new Promise<number>((resolve) => {
    server = serve({ fetch, hostname: '127.0.0.1', port: 0 }, (info) => resolve(info.port))
  })
  url = `http://127.0.0.1:${port}/mcp`
})
afterAll(() => {
  server.close()
})

async function suite(...args: string[]): Promise<{ code: unknown; output: string }> {
  const child = spawn(process.execPath, [SUITE, 'server', '--url', url, ...args])
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  const [code] = await once(child, 'close')
  return { code, output }
}

describe('the suite of the Model Context Protocol', () => {
  it.concurrent('passes the requirements of 2026-07-28', async () => {
    const { code, output } = await suite('--requirements', '2026-07-28')
    expect(output).toContain('✓ server-stateless')
    expect(output).toContain('✓ input-required-result-tampered-state')
    expect(code, output).toBe(0)
  })

  it.concurrent('passes the sessionless requirements of 2025-11-25', async () => {
    const { code, output } = await suite(
      '--requirements',
      '2025-11-25',
      '--expected-failures',
      EXPECTED,
    )
    expect(output).toContain('✓ server-initialize')
    expect(code, output).toBe(0)
  })
})
