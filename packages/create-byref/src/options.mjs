import { parseArgs } from 'node:util'
import { closestMatch } from 'leven'
import { PROVIDER_NAMES, PROVIDERS, TEMPLATE_NAMES, TEMPLATES } from './choices.mjs'
import { CLIENT_NAMES } from './mcp-clients.mjs'
import { UsageError } from './usage-error.mjs'

/** @import { ProviderName, TemplateName } from './choices.mjs' */
/** @import { ClientName } from './mcp-clients.mjs' */

/**
 * The command line. What it leaves open is null.
 *
 * @typedef {object} Options
 * @property {string | null} folder
 * @property {TemplateName | null} template
 * @property {ProviderName | null} provider
 * @property {string | null} model
 * @property {string | null} baseUrl
 * @property {ClientName | null} client
 * @property {boolean} yes
 * @property {boolean} install
 * @property {boolean} git
 * @property {boolean} help
 * @property {boolean} version
 */

const FLAGS = /** @type {const} */ ({
  template: { type: 'string', short: 't' },
  provider: { type: 'string', short: 'p' },
  model: { type: 'string' },
  'base-url': { type: 'string' },
  client: { type: 'string' },
  yes: { type: 'boolean', short: 'y', default: false },
  install: { type: 'boolean', default: true },
  git: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', short: 'v', default: false },
})

/** What `--help` prints. */
export const HELP = `Starts a project with byref, pass-by-reference for LLM agents.

  npm create byref [folder] -- [options]

  -t, --template   ${lines(TEMPLATES)}
  -p, --provider   ${lines(PROVIDERS)}
      --model      the model, if not the provider's default
      --base-url   the URL of an openai-compatible server
      --client     with mcp-proxy: add the proxy to the servers of ${CLIENT_NAMES.join(' or ')}
  -y, --yes        take the defaults and ask nothing: byref-app, chat, demo
      --no-install write the files only
      --git        run git init
  -h, --help
  -v, --version

Without a terminal it asks nothing. Then the folder, --template and --provider are needed, or --yes.
`

/**
 * Reads the command line.
 *
 * @param {string[]} args
 * @returns {Options}
 * @throws {UsageError} for unknown flags and values
 */
export function parseOptions(args) {
  const { values, positionals } = parse(args)
  const [folder = null, extra] = positionals
  if (extra !== undefined) {
    throw new UsageError(`Unexpected argument "${extra}": give one folder (--help lists the flags)`)
  }
  const { template, provider, client, model, 'base-url': baseUrl, ...switches } = values
  const options = {
    ...switches,
    folder,
    template: template === undefined ? null : oneOf('template', template, TEMPLATE_NAMES),
    provider: provider === undefined ? null : oneOf('provider', provider, PROVIDER_NAMES),
    client: client === undefined ? null : oneOf('client', client, CLIENT_NAMES),
    model: model === undefined ? null : checkModel(model),
    baseUrl: baseUrl === undefined ? null : checkBaseUrl(baseUrl),
  }
  checkTogether(options)
  return options
}

/**
 * @param {string} model
 * @throws {UsageError}
 */
export function checkModel(model) {
  if (/^\S+$/.test(model)) return model
  throw new UsageError(`--model takes the name of a model without spaces, not "${model}"`)
}

/**
 * @param {string} url
 * @throws {UsageError}
 */
export function checkBaseUrl(url) {
  if (/^https?:\/\/\S+$/.test(url) && URL.canParse(url)) return url
  throw new UsageError(`--base-url takes a URL such as http://127.0.0.1:11434/v1, not "${url}"`)
}

/**
 * npm takes flags that are not behind "--" for its own.
 *
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 * @throws {UsageError} for flags that only npm got
 */
export function checkSwallowed(args, env = process.env) {
  const swallowed = ['template', 'provider', 'model', 'base-url', 'client'].filter(
    (flag) => env[`npm_config_${flag.replace('-', '_')}`] !== undefined,
  )
  if (swallowed.length === 0 || args.some((arg) => arg.startsWith('-'))) return
  const flags = swallowed.map((flag) => `--${flag}`)
  throw new UsageError(
    `npm has taken ${flags.join(', ')}. Write -- before the flags: npm create byref my-app -- ${flags[0]} …`,
  )
}

/** @param {string[]} args */
function parse(args) {
  try {
    return parseArgs({ args, options: FLAGS, allowPositionals: true, allowNegative: true })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const [, unknown] = /^Unknown option '(--?[^']+)'/.exec(message) ?? []
    if (!unknown) throw new UsageError(`${message} (--help lists the flags)`)
    const names = Object.keys(FLAGS).map((name) => (name === 'install' ? 'no-install' : name))
    const flags = names.map((name) => `--${name}`)
    throw new UsageError(
      `Unknown flag ${unknown}.${didYouMean(unknown, flags)} --help lists the flags.`,
    )
  }
}

/**
 * @template {string} Name
 * @param {string} flag
 * @param {string} given
 * @param {readonly Name[]} names
 * @returns {Name}
 */
function oneOf(flag, given, names) {
  const found = names.find((name) => name === given)
  if (found) return found
  throw new UsageError(
    `Unknown ${flag} "${given}".${didYouMean(given, names)} Valid: ${names.join(', ')}`,
  )
}

/**
 * @param {string} given
 * @param {readonly string[]} names
 */
function didYouMean(given, names) {
  const most = Math.max(2, Math.floor(given.length / 2))
  const closest = closestMatch(given.toLowerCase(), names, { maxDistance: most })
  return closest === undefined ? '' : ` Did you mean "${closest}"?`
}

/**
 * @param {Pick<Options, 'template' | 'provider' | 'client' | 'baseUrl' | 'model'>} options
 * @throws {UsageError} for flags that would be ignored
 */
export function checkTogether({ template, provider, client, baseUrl, model }) {
  if (baseUrl !== null && provider !== null && provider !== 'openai-compatible') {
    throw new UsageError(`--base-url goes with --provider openai-compatible, not ${provider}`)
  }
  if (model !== null && provider === 'demo') {
    throw new UsageError('--model needs another provider than demo, which is a script')
  }
  if (client !== null && template !== null && template !== 'mcp-proxy') {
    throw new UsageError(`--client goes with --template mcp-proxy, not ${template}`)
  }
}

/** @param {Record<string, { hint: string }>} table */
function lines(table) {
  const width = Math.max(...Object.keys(table).map((name) => name.length))
  return Object.entries(table)
    .map(([name, { hint }]) => `${name.padEnd(width)}  ${hint}`)
    .join(`\n${' '.repeat(19)}`)
}
