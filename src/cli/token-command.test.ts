import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { command } from './token-command.ts'

it('says on stderr that it made the secret, because another server does not know it', async () => {
  const data = mkdtempSync(join(tmpdir(), 'byref-token-'))
  onTestFinished(() => rmSync(data, { recursive: true }))
  vi.stubEnv('BYREF_SECRET', '')
  onTestFinished(() => void vi.unstubAllEnvs())
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const notes = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => void vi.restoreAllMocks())
  await command(['--data', data])
  expect(notes.mock.calls).toEqual([
    [`${data} had no secret, so this is a new one: start the server with the same --data\n`],
  ])
  await command(['--data', data])
  expect(notes).toHaveBeenCalledTimes(1)
  expect(out).toHaveBeenCalledTimes(2)
})

it.each([
  [['--expires', '0d'], '--expires takes a duration such as 12h or 30d, not "0d"'],
  [['--subject', ''], '--subject must not be empty'],
])('rejects %j, with which nobody could use the token as meant', async (args, message) => {
  const data = join(tmpdir(), 'byref-no-token')
  await expect(command([...args, '--data', data])).rejects.toThrow(message)
})
