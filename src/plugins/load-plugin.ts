import { defineTool, TOOL_OPTIONS, type Tool, type ToolContext } from '../boundary/tool.ts'
import { schemaIssues } from '../boundary/validate.ts'
import { checkValue, is, type OptionTable } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'
import { isAssetRef } from '../core/refs/asset-ref.ts'
import { readPluginYaml, type YamlCommand } from './plugin-yaml.ts'

/** Runs a command. `param` is validated, and references in it are resolved. Returns the result, or a promise of it. */
export type PluginExecute = (param: unknown, context: ToolContext) => unknown

/** The handler of a command: a function, or an object with options of `defineTool`. */
export type PluginHandler =
  | PluginExecute
  | ({ execute: PluginExecute } & Pick<
      Tool,
      | 'needsApproval'
      | 'idempotent'
      | 'mappable'
      | 'timeoutMs'
      | 'retries'
      | 'outputPath'
      | 'outputMethod'
      | 'maxResultChars'
      | 'variables'
    >)

const HANDLER: OptionTable<Exclude<PluginHandler, PluginExecute>> = {
  ...is.all(is.boolean, 'idempotent', 'mappable', 'variables'),
  ...is.all(is.positive, 'timeoutMs', 'maxResultChars'),
  retries: TOOL_OPTIONS.retries,
  needsApproval: TOOL_OPTIONS.needsApproval,
  outputPath: TOOL_OPTIONS.outputPath,
  outputMethod: TOOL_OPTIONS.outputMethod,
  execute: TOOL_OPTIONS.execute,
}

/** One command of a plugin. */
export interface PluginCommand {
  name: string
  /** The command as a tool for models, named `plugin_command`. */
  tool: Tool
  /** The tool's arguments for the `param` of a command message. */
  argumentsOf(param: unknown): Record<string, unknown>
}

/** A group of commands. Models call them as tools, and users call them with messages. */
export interface Plugin {
  /** The name in command messages and in the names of tools: `info.name`, else `config.name`, else `info.title`. */
  name: string
  title: string
  description: string
  commands: ReadonlyMap<string, PluginCommand>
}

/**
 * The name of the tool's parameter that takes the whole parameter of a command: as a reference
 * (`asset_ref_acceptable` on `parameter` itself), or if the parameter is not an object.
 */
export const WHOLE_PARAM = '_param'

/**
 * Creates a plugin from its YAML and the handlers of its commands.
 *
 * @throws ByrefError `config_invalid` for invalid YAML or an invalid plugin, with line and column; for a
 *   command without a handler, and for a handler without a command
 */
export async function loadPlugin(
  yaml: string,
  handlers: Readonly<Record<string, PluginHandler>>,
): Promise<Plugin> {
  checkValue(is.string, yaml, 'The first argument of loadPlugin')
  checkValue(
    is.recordOf(is.either(is.callback(), is.group(HANDLER))),
    handlers,
    'loadPlugin.handlers',
  )
  const { name, title, description, commands } = await readPluginYaml(yaml)
  const names = commands.map((command) => command.name)
  for (const handler of Object.keys(handlers)) {
    if (!names.includes(handler)) {
      throw invalid(
        `Unknown command "${handler}" in loadPlugin.handlers. Commands of the plugin "${name}": ${names.join(', ')}`,
      )
    }
  }
  const byTool = new Map<string, string>()
  const made = commands.map((command): [string, PluginCommand] => {
    const handler = Object.hasOwn(handlers, command.name) ? handlers[command.name] : undefined
    if (!handler)
      throw invalid(
        `The command "${command.name}" has no handler. Add one to the handlers of loadPlugin.`,
      )
    const one = pluginCommand(name, command, handler)
    const { id } = one.tool
    const other = byTool.get(id)
    if (other !== undefined)
      throw invalid(
        `The commands "${other}" and "${command.name}" are both the tool "${id}" for models. Give one of them a command_name with letters of A to Z, digits, "_" or "-".`,
      )
    byTool.set(id, command.name)
    return [command.name, one]
  })
  return { name, title, description, commands: new Map(made) }
}

function pluginCommand(
  plugin: string,
  command: YamlCommand,
  handler: PluginHandler,
): PluginCommand {
  const { execute, needsApproval, ...options } =
    typeof handler === 'function' ? { execute: handler } : handler
  const id = `${plugin}_${command.name}`.replace(/[^A-Za-z0-9_-]+/g, '_')
  const paramOf = (input: unknown): unknown => checkedParam(command, Object(input))
  const tool = defineTool({
    ...options,
    id,
    description: descriptionOf(command),
    inputSchema: toolSchema(command),
    references: 'declared',
    needsApproval:
      typeof needsApproval === 'function'
        ? (input, context) => needsApproval(paramOf(input), context)
        : needsApproval,
    execute: (input, context) => execute(paramOf(input), context),
  })
  return {
    name: command.name,
    tool: tool as Tool,
    argumentsOf(param) {
      if (param === undefined || param === null) return {}
      const isWhole = command.isWhole && isAssetRef(param as string)
      return isPlainObject(param) && command.isObject && !isWhole ? param : { [WHOLE_PARAM]: param }
    },
  }
}

function descriptionOf({ description, response }: YamlCommand): string {
  return response === '' ? description : `${description}\nReturns: ${response}`
}

/** Returns the input schema of the tool. If `_param` may replace all fields, required fields are checked later. */
function toolSchema({ schema, isObject, isWhole, isRequired }: YamlCommand) {
  const { description, ...rest } = schema
  const whole = { ...rest, ...(isWhole ? { asset_ref_acceptable: true } : {}) }
  if (!isObject) {
    const properties = {
      [WHOLE_PARAM]: description === undefined ? whole : { ...whole, description },
    }
    return {
      type: 'object',
      properties,
      additionalProperties: false,
      ...(isRequired ? { required: [WHOLE_PARAM] } : {}),
    }
  }
  if (!isWhole) return schema
  // Providers do not support alternative sets of parameters, so the description says what is required.
  const { required = [], ...open } = schema as { required?: readonly string[] }
  const fallback =
    required.length === 0 ? '' : `. Without it, these are required: ${required.join(', ')}`
  const instead = {
    type: 'object',
    asset_ref_acceptable: true,
    description: `A reference to an object that has all other parameters. Pass it instead of them${fallback}`,
  }
  return { ...open, properties: { ...Object(schema.properties), [WHOLE_PARAM]: instead } }
}

/** Returns the parameter that the handler receives. */
function checkedParam(
  { name, schema, isObject, isWhole }: YamlCommand,
  { [WHOLE_PARAM]: whole, ...fields }: Record<string, unknown>,
): unknown {
  if (!isObject) return whole
  if (!isWhole) return fields
  const param = isPlainObject(whole) ? { ...whole, ...fields } : fields
  const issues = schemaIssues(schema, param)
  if (issues.length === 0) return param
  const words = issues.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
  throw new ByrefError(
    'invalid_arguments',
    `The parameter of "${name}" is invalid: ${words.join('; ')}`,
  )
}

function invalid(message: string): ByrefError {
  return new ByrefError('config_invalid', message)
}
