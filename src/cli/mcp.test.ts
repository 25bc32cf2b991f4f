import { describe, expect, it, vi } from 'vitest'
import { mcpCommand } from './mcp.ts'

describe('byref mcp', () => {
  it.each([
    [['tunnel'], 'There is no byref mcp tunnel'],
    [['proxy'], 'either -- <command> or --url'],
    [['proxy', '--url', 'http://127.0.0.1:1', '--', 'x'], 'either -- <command> or --url'],
    [['proxy', '--url', 'here'], '--url takes a URL, not "here"'],
    [['proxy', '--url', 'http://127.0.0.1:1', '--header', 'x'], '--header takes "Name: value"'],
    [['proxy', '--max-chars', 'many', '--', 'x'], '--max-chars takes a whole number, not "many"'],
    [['proxy', '--data', 'x', '--', 'x'], '--data and --namespace go together'],
    [['proxy', '--trust', 'some', '--', 'x'], '--trust is off, track or quarantine'],
    [
      ['proxy', '--trust', 'quarantine', '--show-images', '--', 'x'],
      '--show-images shows what --trust quarantine hides',
    ],
    [['proxy', '--quick', '--', 'x'], "Unknown option '--quick'"],
    [['serve', '--port', '1'], "Unknown option '--port'"],
  ])('refuses %j', async (args, message) => {
    await expect(mcpCommand(args)).rejects.toThrow(message)
  })

  it.each([['--help'], ['proxy', '--help'], ['serve', '--help']])(
    'helps: %s %s',
    async (...args) => {
      const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
      expect(await mcpCommand(args)).toBe(0)
      expect(write.mock.calls.join()).toContain('byref mcp proxy [options] -- <command> [args]')
      write.mockRestore()
    },
  )
})
