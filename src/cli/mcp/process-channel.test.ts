import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { RpcMessage } from '../../integrations/mcp/rpc/json-rpc.ts'
import { processChannel } from './process-channel.ts'

describe('processChannel', () => {
  it('passes messages unchanged, whatever their chunks', async () => {
    // Echoes each line in two pieces.
    const script = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      process.stdout.write(line.slice(0, 9))
      setImmediate(() => process.stdout.write(line.slice(9) + '\\n'))
    })`
    const channel = processChannel(process.execPath, ['-e', script])
    const { promise, resolve } = Promise.withResolvers<RpcMessage>()
    channel.onmessage = resolve
    await channel.start()
    await channel.send({ jsonrpc: '2.0', id: 1, method: 'é 12345678901234567890' })
    expect(await promise).toEqual({ jsonrpc: '2.0', id: 1, method: 'é 12345678901234567890' })
    await channel.close()
  })

  it('accepts batches one by one, and leaves out what is not JSON', async () => {
    const script = `console.log('[{"id":1},{"id":2}]'); console.log(''); console.log('hello'); console.log('{"id":3}')`
    const channel = processChannel(process.execPath, ['-e', script])
    const warn = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const seen: unknown[] = []
    channel.onmessage = ({ id }) => void seen.push(id)
    const ended = new Promise<void>((resolve) => {
      channel.onclose = resolve
    })
    await channel.start()
    await ended
    expect(seen).toEqual([1, 2, 3])
    expect(warn.mock.calls.join()).toContain('ignored a line that is not JSON: hello')
    warn.mockRestore()
  })

  it('reports why there is no server', async () => {
    const warn = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => warn.mockRestore())
    const channel = processChannel('no-such-command', ['a'])
    const ended = new Promise<void>((resolve) => {
      channel.onclose = resolve
    })
    await channel.start()
    await ended
    const sent = channel.send({ jsonrpc: '2.0', id: 1, method: 'ping' })
    await expect(sent).rejects.toThrow(/cannot be started.*ENOENT/)
    expect(channel.whyEnded()).toMatch(/cannot be started.*ENOENT.*no-such-command a/)
    expect(warn.mock.calls.join()).toMatch(/^byref mcp: .*ENOENT.*no-such-command a\n/)
    await channel.close()
  })

  it('stops a server that does not stop by itself', async () => {
    const script = `process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); console.log('{}')`
    const channel = processChannel(process.execPath, ['-e', script], { graceMs: 1 })
    const { promise: began, resolve } = Promise.withResolvers<unknown>()
    channel.onmessage = resolve
    await channel.start()
    await began
    await channel.close()
    expect(channel.whyEnded()).toMatch(/exit code 7|SIGKILL/)
  })

  it.skipIf(process.platform === 'win32')(
    'does not wait for processes that a server has started and left',
    async () => {
      const channel = processChannel('sh', ['-c', 'sleep 300 & echo "{\\"id\\":$!}"; cat'], {
        graceMs: 1,
      })
      const { promise: left, resolve } = Promise.withResolvers<RpcMessage>()
      channel.onmessage = resolve
      await channel.start()
      const { id } = await left
      onTestFinished(() => void process.kill(Number(id)))
      await channel.close()
      expect(channel.whyEnded()).toMatch(/exit code 0|killed by SIG/)
    },
  )

  it('does not repeat arguments, which may be secrets, with a log of its own', async () => {
    const lines: string[] = []
    const log = (line: string) => lines.push(line)
    const script = "console.error('hello'); process.exit(3)"
    const channel = processChannel(process.execPath, ['-e', script, 'hunter2'], { log })
    const ended = new Promise<void>((resolve) => {
      channel.onclose = resolve
    })
    await channel.start()
    await ended
    expect(channel.whyEnded()).toBe('The MCP server has ended (exit code 3)')
    await expect.poll(() => lines).toEqual(['hello'])
  })
})
