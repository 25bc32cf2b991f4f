import { homedir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { readServerConfig } from './server-config.ts'

/** How a configuration names a value. */
const of = (name: string) => `\${${name}}`

const read = (config: object | string, env: Record<string, string> = {}) => {
  const text = typeof config === 'string' ? config : JSON.stringify(config)
  return readServerConfig(text, { file: 'mcp.json', env, folder: '/project' }).configs
}

describe('readServerConfig', () => {
  it('reads what Claude Desktop and Cursor write', () => {
    const config = `{
      // Comments and trailing commas are allowed.
      "mcpServers": {
        "files": { "command": "npx", "args": ["-y", "files", "\${userHome}"], "env": { "A": "1" } },
        "off": { "command": "x", "disabled": true },
        "wiki": { "url": "https://wiki.example/mcp", "headers": { "Authorization": "Bearer \${env:KEY}" } },
      },
    }`
    expect(read(config, { KEY: 'k' })).toEqual([
      { name: 'files', command: 'npx', args: ['-y', 'files', homedir()], env: { A: '1' } },
      {
        name: 'wiki',
        url: new URL('https://wiki.example/mcp'),
        headers: { Authorization: 'Bearer k' },
      },
    ])
  })

  it('reads what VS Code and Claude Code write, and the fields of byref', () => {
    const servers = {
      a: {
        type: 'stdio',
        command: 'a',
        cwd: `${of('workspaceFolder')}/x`,
        prefix: '',
        gallery: true,
      },
      b: { type: 'http', url: `${of('URL:-https://b.example')}/mcp`, trust: 'untrusted' },
      c: { type: 'sse', url: 'http://127.0.0.1:1/sse' },
    }
    expect(read({ inputs: [], servers })).toEqual([
      { name: 'a', command: 'a', args: [], env: {}, cwd: '/project/x', prefix: '' },
      {
        name: 'b',
        url: new URL('https://b.example/mcp'),
        headers: {},
        type: 'http',
        trust: 'untrusted',
      },
      { name: 'c', url: new URL('http://127.0.0.1:1/sse'), headers: {}, type: 'sse' },
    ])
  })

  const one = (entry: unknown) => ({ mcpServers: { one: entry } })
  it.each([
    ['{ "mcpServers": ', 'mcp.json: this is not JSON'],
    [{ tools: {} }, 'mcp.json: it has neither "mcpServers" nor "servers"'],
    [{ mcpServers: {} }, 'it has no enabled server'],
    [one('x'), 'the server "one" is not an object'],
    [one({}), 'the server "one" has neither a "command" nor a "url"'],
    [
      one({ command: 'x', url: 'http://x' }),
      'the server "one" has a "command" and a "url": keep one of them',
    ],
    [one({ url: 'file:///x' }), 'the server "one" has no valid "url": "file:///x"'],
    [
      one({ url: 'http://x', type: 'ws' }),
      'has the unknown "type" "ws": valid are "http" and "sse"',
    ],
    [one({ command: 'x', args: 'y' }), 'the server "one" has "args" that are not a list'],
    [
      one({ command: of('toString') }),
      `needs ${of('toString')}: set the environment variable toString`,
    ],
    [one({ command: 'x', env: [] }), 'the server "one" has "env" that is not an object'],
    [one({ command: 'x', prefix: 1 }), 'has a "prefix" that is not text'],
    [
      one({ command: 'x', trust: 'some' }),
      'has a "trust" that is neither "trusted" nor "untrusted"',
    ],
    [
      one({ command: of('env:NAME') }),
      `needs ${of('env:NAME')}: set the environment variable NAME`,
    ],
    [one({ command: of('input:key') }), `only an editor can: use ${of('env:NAME')} instead`],
  ])('rejects %j', (config, message) => {
    expect(() => read(config)).toThrow(message)
  })

  it('leaves out a server with a problem, and names it', () => {
    const mcpServers = { good: { command: 'x' }, bad: { command: of('env:NAME') }, worse: 1 }
    const text = JSON.stringify({ mcpServers })
    const read = readServerConfig(text, { file: 'mcp.json', env: {}, folder: '/' })
    expect(read.configs).toMatchObject([{ name: 'good' }])
    expect(read.problems).toEqual([
      `mcp.json: the server "bad" needs ${of('env:NAME')}: set the environment variable NAME`,
      'mcp.json: the server "worse" is not an object',
    ])
  })
})
