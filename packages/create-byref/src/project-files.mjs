import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OLLAMA, PROVIDERS, TEMPLATES } from './choices.mjs'
import { commandsOf } from './package-manager.mjs'

/** @import { ProviderName, TemplateName } from './choices.mjs' */
/** @import { McpServer } from './mcp-clients.mjs' */
/** @import { PackageManager } from './package-manager.mjs' */

/**
 * @typedef {object} Project
 * @property {string} folder The absolute path.
 * @property {string} name The name of the package.
 * @property {TemplateName} template
 * @property {ProviderName} provider
 * @property {string | null} model null: the provider's default
 * @property {string | null} baseUrl null: Ollama on this machine
 * @property {string} byref The version range of byref, or where else its package is.
 * @property {PackageManager} packageManager
 */

const templates = fileURLToPath(new URL('../templates', import.meta.url))

/**
 * The files of a project: their texts by their paths.
 *
 * @param {Project} project
 * @returns {Record<string, string>}
 */
export function projectFiles(project) {
  const { template, provider, packageManager } = project
  const model = provider === 'demo' ? `${template}-demo` : provider
  /** @type {Record<string, string>} */
  const files = { 'model.ts': fill(read(`models/${model}.ts`), project) }
  for (const path of pathsIn(template)) {
    const target = path.replace('_gitignore', '.gitignore')
    files[target] = fill(read(`${template}/${path}`), project)
  }
  files['package.json'] = manifest(files['package.json'] ?? '{}', project)
  const env = `${PROVIDERS[provider].env.map((line) => fill(line, project)).join('\n')}\n`
  files['.env.example'] = env
  files['.env'] = env
  if (template === 'mcp-proxy') {
    files['mcp.json'] = json({ mcpServers: { [project.name]: proxyServer(project.folder) } })
  }
  // Without it, newer versions of Yarn make no node_modules, where Node finds packages.
  if (packageManager === 'yarn') files['.yarnrc.yml'] = 'nodeLinker: node-modules\n'
  return files
}

/**
 * The example server behind the proxy, as a client starts it: from any folder.
 *
 * @param {string} folder
 * @returns {McpServer}
 */
export function proxyServer(folder) {
  const byref = join(folder, 'node_modules/byref/bin/byref.mjs')
  const server = ['node', join(folder, 'server.ts')]
  return { command: 'node', args: [byref, 'mcp', 'proxy', '--', ...server] }
}

/**
 * @param {string} text
 * @param {Project} project
 */
function manifest(text, { provider, byref }) {
  const { dependencies, ...rest } = JSON.parse(text)
  const all = { ...dependencies, ...PROVIDERS[provider].dependencies, byref }
  const sorted = Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1))
  const { devDependencies, ...before } = rest
  return json({ ...before, dependencies: Object.fromEntries(sorted), devDependencies })
}

/**
 * Replaces `{{name}}` and other placeholders. In code they are in single quotes.
 *
 * @param {string} text
 * @param {Project} project
 */
function fill(text, { name, folder, template, provider, model, baseUrl, packageManager }) {
  /** @type {Record<string, string>} */
  const values = {
    name,
    folder,
    commands: shellLines(commandsOf(packageManager, TEMPLATES[template].commands)),
    readme: read(`models/${provider}.md`).trim(),
    model: model ?? PROVIDERS[provider].model,
    baseUrl: baseUrl ?? OLLAMA,
  }
  return text.replace(/('?)\{\{(\w+)\}\}/g, (whole, quote, key) => {
    const value = values[key]
    if (value === undefined) throw new Error(`A template has the unknown placeholder ${whole}`)
    return quote + (quote ? value.replace(/[\\']/g, '\\$&') : value)
  })
}

/** @param {readonly [command: string, about: string][]} commands */
function shellLines(commands) {
  const width = Math.max(...commands.map(([command]) => command.length))
  return commands.map(([command, about]) => `${command.padEnd(width)}  # ${about}`).join('\n')
}

/**
 * @param {string} template
 * @returns {string[]} with slashes on every platform
 */
function pathsIn(template) {
  const folder = join(templates, template)
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
}

/** @param {string} path */
function read(path) {
  return readFileSync(join(templates, path), 'utf8')
}

/** @param {unknown} value */
function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`
}
