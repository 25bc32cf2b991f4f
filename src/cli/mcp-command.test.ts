import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runMain } from './fixtures/run-main.ts'
import { command as mcpCommand } from './mcp-command.ts'

describe('byref mcp', () => {
  it.each([
    [['tunnel'], 'There is no byref mcp tunnel'],
    [['--', 'x'], 'byref mcp proxy -- <command>'],
    [['proxy'], 'one of -- <command>, --url and --config'],
    [
      ['proxy', '--url', 'http://127.0.0.1:1', '--', 'x'],
      'one of -- <command>, --url and --config',
    ],
    [['proxy', '--config', 'no-such.json'], '--config no-such.json cannot be read'],
    [['proxy', '--tool-search', 'some', '--', 'x'], '--tool-search takes auto, on or off'],
    [['list'], 'byref mcp list needs --config'],
    [['proxy', '--url', 'here'], '--url takes a URL, not "here"'],
    [['proxy', '--url', 'http://127.0.0.1:1', '--header', 'x'], '--header takes "Name: value"'],
    [['proxy', '--max-chars', 'many', '--', 'x'], '--max-chars takes a whole number, not "many"'],
    [['proxy', '--data', 'x', '--', 'x'], '--data and --namespace go together'],
    [['proxy', '--trust', 'some', '--', 'x'], '--trust takes off, track or quarantine'],
    [
      ['proxy', '--trust', 'quarantine', '--show-images', '--', 'x'],
      '--show-images cannot be used with --trust quarantine, which hides images',
    ],
    [['proxy', '--quick', '--', 'x'], 'Unknown option "--quick". (byref mcp proxy'],
    [['serve', '--port', '1'], 'Unknown option "--port"'],
    [['serve', 'my-data'], 'Unexpected argument "my-data" (byref mcp serve --help)'],
  ])('refuses %j', async (args, message) => {
    await expect(mcpCommand(args)).rejects.toThrow(message)
  })

  const ownHelp = 'byref mcp proxy [options] -- <command> [args]'

  it.each([[['--help']], [['proxy', '-h']], [['serve', '--help']]])(
    'shows its own help: %j',
    async (args) => {
      const { status, out } = await runMain('mcp', ...args)
      expect([status, out]).toEqual([0, expect.stringContaining(ownHelp)])
    },
  )

  it('leaves --help after -- to the server', () => {
    const cli = fileURLToPath(new URL('../cli.ts', import.meta.url))
    const args = ['mcp', 'proxy', '--', process.execPath, '--help']
    const { stdout } = spawnSync(process.execPath, [cli, ...args], { input: '' })
    expect(String(stdout)).not.toContain(ownHelp)
  })

  it('ends if its folder cannot be used', () => {
    const folder = mkdtempSync(join(tmpdir(), 'byref-mcp-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'file')
    writeFileSync(file, '')
    const cli = fileURLToPath(new URL('../cli.ts', import.meta.url))
    const server = [process.execPath, '-e', 'process.stdin.resume()']
    const options = ['--data', join(file, 'data'), '--namespace', 'n']
    const { status, stderr } = spawnSync(
      process.execPath,
      [cli, 'mcp', 'proxy', ...options, '--', ...server],
      // Only ends a process that hangs. A busy machine may need long to start one.
      { timeout: 120_000, killSignal: 'SIGKILL' },
    )
    expect(String(stderr)).toContain('cannot be used')
    expect(status).toBe(1)
  })

  it('tells the client and stderr that the command of the server does not exist', async () => {
    const cli = fileURLToPath(new URL('../cli.ts', import.meta.url))
    const child = spawn(process.execPath, [cli, 'mcp', 'proxy', '--', 'no-such-command'])
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = once(child, 'close')
    const output = text(child.stdout)
    let errors = ''
    // The client sends a request after the server has failed.
    for await (const chunk of child.stderr.setEncoding('utf8')) {
      errors += chunk
      if (errors.includes('no-such-command')) break
    }
    child.stdin.write('{"jsonrpc":"2.0","method":"notifications/progress"}\n')
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n')
    const why = 'The MCP server cannot be started (spawn no-such-command ENOENT)'
    expect(errors).toContain(why)
    expect(JSON.parse(await output)).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining(why) },
    })
    expect(await ended).toEqual([1, null])
  })

  it.each([
    ['proxy', '--', process.execPath, '-e', 'process.stdin.resume()'],
    ['serve', '--data', ':folder/data'],
  ])('ends properly by a signal during its start: %s', async (...given) => {
    const folder = mkdtempSync(join(tmpdir(), 'byref-start-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const args = given.map((arg) => arg.replace(':folder', folder))
    const program = `
      import { command as mcpCommand } from ${JSON.stringify(new URL('mcp-command.ts', import.meta.url).href)}
      const ended = mcpCommand(${JSON.stringify(args)})
      process.kill(process.pid, 'SIGTERM')
      console.log('ended', await ended)
    `
    const flags = ['--disable-warning=ExperimentalWarning', '--conditions=byref-source']
    const child = spawn(process.execPath, [...flags, '--input-type=module', '--eval', program], {
      // A client that stays connected, and sends nothing.
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: folder },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = once(child, 'close')
    expect(await text(child.stdout)).toBe('ended 0\n')
    expect(await ended).toEqual([0, null])
    expect(readdirSync(folder).filter((name) => name.startsWith('byref-mcp-'))).toEqual([])
  })
})
