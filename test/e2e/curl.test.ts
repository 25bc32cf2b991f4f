import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { byref, type ServerProcess, serve, temporaryFolder } from './byref-process.ts'

// Runs the commands of docs/reference/http-api.md.

const blocks = [
  ...readFileSync(new URL('../../docs/reference/http-api.md', import.meta.url), 'utf8').matchAll(
    /```sh\n([\s\S]*?)```/g,
  ),
].map(([, code = '']) => code)
const [first = '', chart = '', second = ''] = blocks
const hasJq = spawnSync('jq', ['--version']).status === 0

const folder = temporaryFolder()
afterAll(folder.remove)

/** Returns the output of commands, until they end or have printed this. */
async function bash(code: string, env: Record<string, string> = {}, until = ''): Promise<string> {
  const child = spawn('bash', ['-c', code], {
    cwd: folder.path,
    // Its own process group, so that it can be stopped like by Ctrl-C.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  let output = ''
  let isStopped = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (until === '' || isStopped || !output.includes(until)) return
    isStopped = true
    process.kill(-(child.pid as number), 'SIGTERM')
  })
  await once(child, 'close')
  return output
}

describe('the curl commands of the docs, on this machine', () => {
  let server: ServerProcess
  beforeAll(async () => {
    server = await serve(`${folder.path}/local`)
  })
  afterAll(() => server?.stop())

  it('send messages, and follow the conversation', async () => {
    expect(first).toContain('curl localhost:4114/api/info\n')
    const port = new URL(server.url).port
    // The last command follows the stream until it is stopped.
    const code = first
      .replaceAll('4114', port)
      .replace(/^curl (-N)?/gm, (_, n) => (n ? 'curl -sN' : 'curl -s '))
    const output = await bash(code, {}, 'RUN_FINISHED')
    expect(output).toContain('"name":"byref"')
    expect(output).toContain('"runId":')
    expect(output).toContain('retry: 1000\n\n')
    expect(output).toMatch(/^id: 1\ndata: \{"v":/m)
    expect(output).toContain('RUN_FINISHED')
  })

  it.runIf(hasJq)('upload a file, and download its chart', async () => {
    expect(chart).toContain('api=localhost:4114/api\n')
    await bash(chart.replace('4114', new URL(server.url).port))
    const png = readFileSync(`${folder.path}/chart.png`)
    expect(png.subarray(1, 4).toString()).toBe('PNG')
  })
})

describe('the curl commands of the docs, with tokens', () => {
  let server: ServerProcess
  let token = ''
  const path = `${folder.path}/auth`
  const lines = second.trim().split('\n')

  beforeAll(async () => {
    const args = (lines[0] ?? '').replace('byref serve', '').trim().split(' ')
    // On all addresses, it would be open to the network of the test.
    server = await serve(path, {}, { args: [...args, '--host', '127.0.0.1'] })
    const made = /byref token ([^)]*)/.exec(lines[1] ?? '')?.[1] ?? ''
    const { stdout, stderr } = await byref(['token', ...made.split(' '), '--data', path])
    expect(stderr).toBe('')
    token = stdout.trim()
  })
  afterAll(() => server?.stop())

  const curl = (line: string, TOKEN = token): Promise<string> => {
    const { port } = new URL(server.url)
    const flags = `-s -w '\\n%{http_code}' --resolve box.example:${port}:127.0.0.1`
    const code = line
      .replace('https://box.example', `http://box.example:${port}`)
      .replace(/^curl/, `curl ${flags}`)
    return bash(code, { TOKEN })
  }

  it('are accepted with a token, as its user', async () => {
    expect(lines).toHaveLength(3)
    const [body = '', status] = (await curl(lines[2] ?? '')).split('\n')
    expect(status).toBe('200')
    expect(JSON.parse(body).caller).toEqual({ subject: 'anna', namespace: 'team', role: 'member' })
  })

  it('are rejected without a token, with another one, and under another name', async () => {
    const [body = '', status] = (await curl('curl https://box.example/api/info')).split('\n')
    expect([status, JSON.parse(body).error]).toEqual([
      '401',
      { code: 'unauthorized', message: expect.stringContaining('Authorization: Bearer') },
    ])
    expect(await curl(lines[2] ?? '', `${token}x`)).toMatch(/\n401$/)
    const other = (lines[2] ?? '').replace('-H', '-H "host: evil.example" -H')
    expect(await curl(other)).toMatch(/--allow-host.*\n403$/)
  })
})

describe('byref serve for others', () => {
  it('does not start without tokens, and explains what to do', async () => {
    const args = ['serve', '--port', '0', '--data', `${folder.path}/open`]
    for (const host of ['0.0.0.0', '::', 'box.example']) {
      const { code, stdout, stderr } = await byref([...args, '--host', host])
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(
        new RegExp(`^byref: A server on ${host} is open to everyone: .*byref token.*--auth.*\n$`),
      )
    }
  })

  it('reports what is missing for --jwks', async () => {
    const args = ['serve', '--port', '0', '--data', `${folder.path}/jwks`, '--jwks']
    expect(await byref([...args, 'https://login.example/keys'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--jwks needs --issuer and --audience'),
    })
    expect(await byref([...args, 'nonsense'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--jwks takes a URL'),
    })
  })
})
