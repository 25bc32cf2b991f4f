import { cancel, intro, isCancel, select, text } from '@clack/prompts'
import {
  DEFAULTS,
  OLLAMA,
  PROVIDER_NAMES,
  PROVIDERS,
  TEMPLATE_NAMES,
  TEMPLATES,
} from './choices.mjs'
import { CLIENT_NAMES } from './mcp-clients.mjs'
import { checkBaseUrl, checkModel } from './options.mjs'
import { ProjectFolder, packageName } from './project-folder.mjs'
import { UsageError } from './usage-error.mjs'

/** @import { ProviderName, TemplateName } from './choices.mjs' */
/** @import { Options } from './options.mjs' */
/** @typedef {Options & { folder: string, template: TemplateName, provider: ProviderName }} Answers */

/** The person ended the questions. */
export class Cancelled extends Error {}

/**
 * Asks for what the command line leaves open.
 *
 * @param {Options} options
 * @returns {Promise<Answers>}
 * @throws {Cancelled}
 */
export async function ask(options) {
  intro('A project with byref')
  const folder = options.folder ?? (await askText('Folder', DEFAULTS.folder, checkFolder))
  checkFolder(folder)
  const template =
    options.template ?? (await choose('Template', TEMPLATE_NAMES, (name) => TEMPLATES[name].hint))
  const provider =
    options.provider ?? (await choose('Provider', PROVIDER_NAMES, (name) => PROVIDERS[name].hint))
  const answers = { ...options, folder, template, provider }
  if (provider === 'openai-compatible') {
    answers.baseUrl ??= await askText('URL of the server', OLLAMA, checkBaseUrl)
    answers.model ??= await askText('Model', PROVIDERS[provider].model, checkModel)
  }
  if (template === 'mcp-proxy' && answers.client === null) {
    const client = await choose('Add the proxy to the servers of', ['none', ...CLIENT_NAMES])
    answers.client = client === 'none' ? null : client
  }
  return answers
}

/**
 * The answers without questions.
 *
 * @param {Options} options
 * @returns {Answers}
 * @throws {UsageError} that names the missing flags, unless `--yes` takes the defaults
 */
export function answersOf(options) {
  const { folder, template, provider } = options
  if (!options.yes) {
    const missing = [
      folder === null && `a folder, such as ${DEFAULTS.folder}`,
      template === null && `--template ${TEMPLATE_NAMES.join('|')}`,
      provider === null && `--provider ${PROVIDER_NAMES.join('|')}`,
    ].filter((one) => one !== false)
    if (missing.length > 0) {
      throw new UsageError(
        `There is no terminal to ask in. Missing: ${missing.join(', ')}. Or take the defaults with --yes.`,
      )
    }
  }
  return {
    ...options,
    folder: folder ?? DEFAULTS.folder,
    template: template ?? DEFAULTS.template,
    provider: provider ?? (options.baseUrl === null ? DEFAULTS.provider : 'openai-compatible'),
  }
}

/** @param {string} folder */
function checkFolder(folder) {
  packageName(new ProjectFolder(folder).path)
}

/**
 * @param {string} message
 * @param {string} usual
 * @param {(value: string) => unknown} check throws UsageError
 */
async function askText(message, usual, check) {
  const answer = await text({
    message,
    placeholder: usual,
    defaultValue: usual,
    validate: (value) => whyNot(() => check(value || usual)),
  })
  return answered(answer)
}

/**
 * @template {string} Name
 * @param {string} message
 * @param {readonly Name[]} names
 * @param {(name: Name) => string} [hintOf]
 * @returns {Promise<Name>}
 */
async function choose(message, names, hintOf = () => '') {
  const options = names.map((name) => ({ value: String(name), label: name, hint: hintOf(name) }))
  const answer = answered(await select({ message, options }))
  const [chosen] = names.filter((name) => name === answer)
  if (chosen === undefined) throw new Error(`Nobody offered ${answer}`)
  return chosen
}

/**
 * @template Answer
 * @param {Answer} answer
 * @returns {Exclude<Answer, symbol>}
 * @throws {Cancelled}
 */
function answered(answer) {
  if (!isCancel(answer)) return /** @type {Exclude<Answer, symbol>} */ (answer)
  cancel('Cancelled. Nothing was created.')
  throw new Cancelled()
}

/** @param {() => unknown} check */
function whyNot(check) {
  try {
    check()
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
}
