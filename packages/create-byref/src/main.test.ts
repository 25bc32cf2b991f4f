import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const bin = fileURLToPath(new URL('../bin/create-byref.mjs', import.meta.url))
const root = realpathSync(mkdtempSync(join(tmpdir(), 'create-byref-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** An environment that has only these programs, which are shell scripts. */
function environment(programs: Record<string, string> = {}): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(root, 'bin-'))
  for (const [name, script] of Object.entries(programs))
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const { npm_config_user_agent: _, ...env } = process.env
  return { ...env, HOME: root, USERPROFILE: root, PATH: `${folder}${delimiter}${env.PATH}` }
}

/** Runs the command without a terminal on stdin. */
function create(args: string[], env = environment()) {
  const options = { cwd: root, env, encoding: 'utf8', input: '' } as const
  return spawnSync(process.execPath, [bin, ...args], options)
}

const terminal = ['--template', 'terminal', '--provider', 'demo']

describe('create-byref', () => {
  it('writes a project, and prints the next steps', () => {
    const { status, stderr } = create(['one', ...terminal, '--no-install'])
    expect(stderr).toContain('  cd one\n  npm i\n  npm run start\n  npm run start -- --resume\n')
    expect(status).toBe(0)
    const readme = readFileSync(join(root, 'one/README.md'), 'utf8')
    expect(readme).toMatch(/^# one\n/)
    expect(readme).toMatch(/\nnpm i +# .*\nnpm run start +# .*\nnpm run start -- --resume +# /)
    expect(existsSync(join(root, 'one/.git'))).toBe(false)
  })

  it('installs with the package manager that started it', () => {
    const env = environment({ pnpm: 'echo "$@" > asked' })
    env.npm_config_user_agent = 'pnpm/10.0.0 npm/? node/v24.0.0 linux x64'
    const { stderr } = create(['two', ...terminal], env)
    expect(readFileSync(join(root, 'two/asked'), 'utf8')).toBe('i\n')
    expect(stderr).toContain('  cd two\n  pnpm run start\n')
  })

  it('makes a repository if asked', () => {
    const env = environment({ git: 'echo "$@" > asked' })
    create(['three', ...terminal, '--no-install', '--git'], env)
    expect(readFileSync(join(root, 'three/asked'), 'utf8')).toBe('init --quiet\n')
  })

  it('asks nothing without a terminal', () => {
    const { status, stderr } = create(['four'])
    expect(stderr).toContain('Missing: --template chat|terminal|mcp-proxy, --provider demo|')
    expect(status).toBe(2)
    expect(existsSync(join(root, 'four'))).toBe(false)
  })

  it('rejects a folder with files', () => {
    mkdirSync(join(root, 'full'))
    writeFileSync(join(root, 'full/notes.txt'), 'mine')
    const { status, stderr } = create(['full', ...terminal])
    expect(stderr).toContain('is not empty: it has notes.txt')
    expect(status).toBe(2)
    expect(readFileSync(join(root, 'full/notes.txt'), 'utf8')).toBe('mine')
  })

  it('keeps the files if the installation fails, and prints the next steps', () => {
    const { status, stderr } = create(['five', ...terminal], environment({ npm: 'exit 3' }))
    const folder = join(root, 'five')
    expect(stderr).toContain(
      `npm i failed, see its output above. The files are in ${folder}. When it is fixed:\n\n  cd five\n  npm i\n`,
    )
    expect(status).toBe(1)
    expect(existsSync(join(folder, 'agent.ts'))).toBe(true)
  })

  it('reports that npm has consumed its flags', () => {
    const env = { ...environment(), npm_config_template: 'true' }
    const { status, stderr } = create(['seven', 'terminal'], env)
    expect(stderr).toContain('npm has taken --template. Write -- before the flags')
    expect(status).toBe(2)
  })

  it('names what is not installed', () => {
    const env = environment()
    const { status, stderr } = create(['six', ...terminal], { ...env, PATH: join(root, 'none') })
    expect(stderr).toContain('npm i did not start: is npm installed?')
    expect(status).toBe(1)
    expect(existsSync(join(root, 'six/agent.ts'))).toBe(true)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('removes everything after a %s', async (signal) => {
    const env = environment({ npm: 'mkdir -p node_modules/a; echo started; exec sleep 600' })
    const child: ChildProcess = spawn(process.execPath, [bin, signal.toLowerCase(), ...terminal], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const closed = once(child, 'close')
    if (child.stdout) await once(child.stdout, 'data')
    expect(existsSync(join(root, signal.toLowerCase(), 'node_modules/a'))).toBe(true)
    child.kill(signal)
    expect(await closed).toEqual([130, null])
    expect(existsSync(join(root, signal.toLowerCase()))).toBe(false)
  })

  it('adds the proxy to a client, and keeps another server with the same name', () => {
    const file = join(root, '.cursor/mcp.json')
    const args = ['--template', 'mcp-proxy', '--provider', 'demo', '--no-install']
    const { stderr } = create(['proxy', ...args, '--client', 'cursor'])
    expect(stderr).toContain('+   "proxy": {')
    const { mcpServers } = JSON.parse(readFileSync(file, 'utf8'))
    expect(mcpServers).toEqual(
      JSON.parse(readFileSync(join(root, 'proxy/mcp.json'), 'utf8')).mcpServers,
    )
    const mine = JSON.stringify({ mcpServers: { other: { command: 'mine' } } })
    writeFileSync(file, mine)
    const second = create(['other', ...args, '--client', 'cursor'])
    expect(second.stderr).toContain('has another server "other" and stays as it is. Paste this')
    expect(readFileSync(file, 'utf8')).toBe(mine)
  })

  it('prints its help and its version', () => {
    expect(create(['--help']).stdout).toContain('npm create byref')
    expect(create(['--version']).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})
