import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PROVIDER_NAMES, PROVIDERS, TEMPLATE_NAMES, TEMPLATES } from './choices.mjs'
import { scriptCommand } from './package-manager.mjs'
import { type Project, projectFiles } from './project-files.mjs'

const project: Project = {
  folder: '/home/ada/my-app',
  name: 'my-app',
  template: 'chat',
  provider: 'demo',
  model: null,
  baseUrl: null,
  byref: '^1.2.3',
  packageManager: 'npm',
}
const all = TEMPLATE_NAMES.flatMap((template) =>
  PROVIDER_NAMES.map((provider) => [template, provider] as const),
)
const manifestOf = (path: string) =>
  JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'))

describe('projectFiles', () => {
  it.each(all)('%s with %s is complete', (template, provider) => {
    const files = projectFiles({ ...project, template, provider })
    for (const file of ['README.md', '.gitignore', '.env', '.env.example', 'model.ts'])
      expect(files, file).toHaveProperty([file])
    expect(Object.values(files).join('\n')).not.toMatch(/\{\{\w+\}\}/)
    expect(files['.gitignore']).toMatch(/^\.env$/m)
    expect(files['README.md']).toMatch(/^# my-app\n/)
    const { name, dependencies, scripts } = JSON.parse(files['package.json'] ?? '')
    expect(name).toBe('my-app')
    expect(dependencies).toMatchObject({ byref: '^1.2.3', ...PROVIDERS[provider].dependencies })
    for (const { script, about } of TEMPLATES[template].commands) {
      expect(scripts).toHaveProperty([script[0] ?? ''])
      const command = scriptCommand('npm', script)
      const line = files['README.md']?.split('\n').find((one) => one.startsWith(`${command} `))
      expect(line?.split(/ +# /)).toEqual([command, about])
    }
    expect(JSON.parse(files['tsconfig.json'] ?? '').compilerOptions.strict).toBe(true)
  })

  it('puts a model and a URL into code and .env', () => {
    const provider = 'openai-compatible'
    const baseUrl = 'http://127.0.0.1:8000/v1'
    const files = projectFiles({ ...project, provider, baseUrl, model: "ada's" })
    expect(files['model.ts']).toContain(`process.env.OPENAI_BASE_URL || '${baseUrl}'`)
    expect(files['model.ts']).toContain(String.raw`process.env.BYREF_MODEL || 'ada\'s'`)
    expect(files['.env']).toContain(`OPENAI_BASE_URL=${baseUrl}\nBYREF_MODEL=ada's\n`)
  })

  it('names the server of mcp.json by its path, so that clients start it from any folder', () => {
    const files = projectFiles({ ...project, template: 'mcp-proxy' })
    expect(JSON.parse(files['mcp.json'] ?? '')).toEqual({
      mcpServers: {
        'my-app': {
          command: 'node',
          args: [
            '/home/ada/my-app/node_modules/byref/bin/byref.mjs',
            'mcp',
            'proxy',
            '--',
            'node',
            '/home/ada/my-app/server.ts',
          ],
        },
      },
    })
  })

  it('configures Yarn to use node_modules', () => {
    expect(projectFiles(project)).not.toHaveProperty(['.yarnrc.yml'])
    expect(projectFiles({ ...project, packageManager: 'yarn' })).toHaveProperty(['.yarnrc.yml'])
  })
})

describe('the package', () => {
  it('has the version of byref, its Node, and the providers that byref is tested with', () => {
    const root = manifestOf('package.json')
    const own = manifestOf('packages/create-byref/package.json')
    expect(own.version).toBe(root.version)
    expect(own.engines).toEqual(root.engines)
    const providers = Object.assign({}, ...Object.values(PROVIDERS).map((one) => one.dependencies))
    expect(root.devDependencies).toMatchObject(providers)
  })
})
