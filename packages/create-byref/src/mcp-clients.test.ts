import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { addServer, configFile, writeConfig } from './mcp-clients.mjs'

const server = { command: 'node', args: ['server.ts'] }

describe('addServer', () => {
  it('changes nothing else', () => {
    const before = `{
    // mine
    "theme": "dark",
    "mcpServers": {
        "files": {
            "command": "npx", // as it was
        }
    }
}
`
    expect(addServer(before, 'rain', server)).toEqual({
      outcome: 'added',
      text: `{
    // mine
    "theme": "dark",
    "mcpServers": {
        "files": {
            "command": "npx", // as it was
        },
        "rain": {
            "command": "node",
            "args": [
                "server.ts"
            ]
        }
    }
}
`,
    })
  })

  it.each([[null], [''], ['{}'], ['{ "mcpServers": {} }']])('adds to %j', (before) => {
    const result = addServer(before, 'rain', server)
    expect(JSON.parse('text' in result ? result.text : '')).toEqual({
      mcpServers: { rain: server },
    })
  })

  it('never overwrites a server', () => {
    const before = JSON.stringify({ mcpServers: { rain: { command: 'mine' } } })
    expect(addServer(before, 'rain', server)).toEqual({ outcome: 'taken' })
    const after = JSON.stringify({ mcpServers: { rain: server } })
    expect(addServer(after, 'rain', server)).toEqual({ outcome: 'same' })
  })

  it.each([
    '{',
    '[]',
    'null',
    '{ "mcpServers": [] }',
    '{ "mcpServers": 1 }',
    '{ "mcpServers": null }',
  ])('does not touch %s', (before) => {
    expect(addServer(before, 'rain', server)).toEqual({ outcome: 'unreadable' })
  })
})

describe('configFile', () => {
  it.each([
    ['darwin', '/home/ada/Library/Application Support/Claude/claude_desktop_config.json'],
    ['linux', '/home/ada/.config/Claude/claude_desktop_config.json'],
  ] as const)('of Claude Desktop on %s', (platform, file) => {
    expect(configFile('claude-desktop', { platform, env: {}, home: '/home/ada' })).toBe(file)
  })

  it('of Cursor', () => {
    expect(configFile('cursor', { env: {}, home: '/home/ada' })).toBe('/home/ada/.cursor/mcp.json')
  })
})

describe('writeConfig', () => {
  it('keeps the permissions of a file, and a link to it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'create-byref-config-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [file, link] = [join(folder, 'dotfiles.json'), join(folder, 'mcp.json')]
    writeFileSync(file, '{}', { mode: 0o600 })
    symlinkSync(file, link)
    writeConfig(link, '{ "mcpServers": {} }')
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe('{ "mcpServers": {} }')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toHaveLength(2)
  })

  it('creates a missing file, and its folder', () => {
    const folder = mkdtempSync(join(tmpdir(), 'create-byref-config-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'new', 'mcp.json')
    writeConfig(file, '{}')
    expect(readFileSync(file, 'utf8')).toBe('{}')
  })
})
