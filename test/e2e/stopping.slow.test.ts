import { closeSync, existsSync, mkdtempSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openAgent } from '../../src/cli/open-agent.ts'
import { providerServer } from '../../src/models/fixtures/provider-server.ts'
import { groupOf, npmStart, npxServe, serve, temporaryFolder } from './byref-process.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

describe.skipIf(process.platform === 'win32')('npm start during a run', () => {
  it.each([
    ['npm alone', (pid: number) => process.kill(pid, 'SIGTERM')],
    ['the whole group', (pid: number) => process.kill(-pid, 'SIGTERM')],
  ])(
    'SIGTERM to %s leaves nothing running, and a new process finishes the run',
    async (_name, stop) => {
      // A new folder, so that another attempt does not find the leftovers of this one.
      const path = mkdtempSync(join(folder.path, 'npm-start-'))
      const provider = await providerServer([{ events: [], hang: true }])
      const env = { OPENAI_BASE_URL: `${provider.url}/v1`, BYREF_MODEL: 'slow' }
      const server = await npmStart(path, env)
      const pid = server.process.pid ?? 0
      try {
        const api = `${server.url}/api/conversations`
        const { id } = (await (await fetch(api, { method: 'POST' })).json()) as { id: string }
        const sent = await fetch(`${api}/${id}/messages`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ content: 'hello' }),
        })
        expect(sent.status).toBe(202)
        await expect.poll(() => provider.requests.length).toBe(1)
        expect(groupOf(pid).length).toBeGreaterThan(1)

        stop(pid)
        await expect.poll(() => groupOf(pid)).toEqual([])
        await expect.poll(() => server.output.stdout).toMatch(/1 conversation\(s\) .*next start/)
        await expect(fetch(`${server.url}/healthz`)).rejects.toThrow()
      } finally {
        // Only a failed test leaves something.
        if (groupOf(pid).length > 0) process.kill(-pid, 'SIGKILL')
        await provider.close()
      }

      // Releases the lease, which would last ten seconds.
      const { agent, close } = await openAgent({ data: path })
      const { conversations } = await agent.log.list({ due: true })
      await close()
      expect(conversations.map(({ lease }) => lease)).toEqual([null])
      const again = await serve(path)
      const list = async () => (await fetch(`${again.url}/api/conversations`)).json()
      await expect.poll(list).toMatchObject({ conversations: [{ status: 'idle', messages: 2 }] })
      expect(await again.stop()).toBe(0)
    },
  )
})

describe.skipIf(process.platform === 'win32')('byref serve by npx', () => {
  it('ends with the shell that npx started it by', async () => {
    const server = await npxServe(mkdtempSync(join(folder.path, 'npx-')))
    const pid = server.process.pid ?? 0
    try {
      process.kill(pid, 'SIGTERM')
      await expect.poll(() => groupOf(pid)).toEqual([])
      await expect(fetch(`${server.url}/healthz`)).rejects.toThrow()
    } finally {
      if (groupOf(pid).length > 0) process.kill(-pid, 'SIGKILL')
    }
  })
})

describe.skipIf(!existsSync('/dev/full'))('byref serve whose log cannot be written', () => {
  it('still responds', async () => {
    const full = openSync('/dev/full', 'w')
    const server = await serve(
      mkdtempSync(join(folder.path, 'full-')),
      {},
      {
        args: ['--log', 'info'],
        stderr: full,
      },
    )
    closeSync(full)
    for (let n = 0; n < 3; n++) {
      expect((await fetch(`${server.url}/api/conversations`)).status).toBe(200)
    }
    expect(await server.stop()).toBe(0)
  })
})
