import type { JsonSchema } from '../boundary/describe-schema.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import { isPlainObject, putKey } from '../core/json/json.ts'
import { type Fail, type Path, TypeReader, unknownName } from './type-reader.ts'

/** A command in the YAML. */
export interface YamlCommand {
  name: string
  description: string
  /** A description of the result, or ''. */
  response: string
  /** The schema of the whole parameter. */
  schema: JsonSchema
  /** Whether the parameter has fields. */
  isObject: boolean
  /** Whether one reference may replace the whole parameter. */
  isWhole: boolean
  isRequired: boolean
}

/** A plugin in the YAML. */
export interface YamlPlugin {
  name: string
  title: string
  description: string
  commands: YamlCommand[]
}

/** @throws ByrefError `config_invalid`, with line and column */
export async function readPluginYaml(yaml: string): Promise<YamlPlugin> {
  const { LineCounter, parseDocument } = await import('yaml')
  const lines = new LineCounter()
  const document = parseDocument(yaml, { lineCounter: lines })
  const [error] = document.errors
  if (error) throw invalid(`The plugin's YAML cannot be read: ${error.message}`)
  const fail: Fail = (path, what) => {
    const node = nearest(path, (keys) => document.getIn(keys, true))
    const start = (node as { range?: number[] } | undefined)?.range?.[0]
    const { line, col } = lines.linePos(start ?? 0)
    throw invalid(`The plugin's YAML, line ${line}, column ${col}: ${pathText(path)} ${what}`)
  }
  const root = toJs(document)
  if (!isPlainObject(root)) fail([], 'must have info and commands')
  const { info, commands, config } = root as Record<string, unknown>
  checkNames(root, ROOT_KEYS, [], fail)
  if (!isPlainObject(info)) return fail(['info'], 'must have a title and a description')
  checkNames(info, INFO_KEYS, ['info'], fail)
  const title = textIn(info, ['info', 'title'], fail)
  if (!Array.isArray(commands) || commands.length === 0) {
    return fail(['commands'], 'must be a list of commands')
  }
  const reader = new TypeReader(fail)
  const read = commands.map((command, i) => readCommand(command, ['commands', i], reader))
  for (const [i, { name }] of read.entries()) {
    const isTwice = read.findIndex((other) => other.name === name) !== i
    if (isTwice) fail(['commands', i, 'command_name'], `is "${name}" a second time`)
  }
  // The description for models has priority.
  const described = ['description_for_model', 'description']
  const describedBy = described.find((key) => (info[key] ?? null) !== null)
  return {
    name: info.name === undefined ? nameIn(config, title) : textIn(info, ['info', 'name'], fail),
    title,
    description: describedBy === undefined ? '' : textIn(info, ['info', describedBy], fail),
    commands: read,
  }
}

/** The keys of a ConCopilot component. Those that do not concern commands are for other programs. */
const ROOT_KEYS =
  'info commands config group_id artifact_id version instance_id type as_plugin setup url developers licenses'.split(
    ' ',
  )
const INFO_KEYS =
  'name title description description_for_model description_for_human prompt prompt_file_name prompt_file_path'.split(
    ' ',
  )
const COMMAND_KEYS = ['command_name', 'description', 'parameter', 'parameters', 'response']

function checkNames(object: object, names: readonly string[], path: Path, fail: Fail): void {
  const odd = Object.keys(object).find((key) => !names.includes(key))
  if (odd !== undefined) fail([...path, odd], unknownName(odd, names))
}

/** Returns the name in `config`, or else the title. */
function nameIn(config: unknown, title: string): string {
  const { name } = Object(config) as { name?: unknown }
  return typeof name === 'string' && name.trim() !== '' ? name.trim() : title
}

function readCommand(command: unknown, path: Path, reader: TypeReader): YamlCommand {
  const { fail } = reader
  if (!isPlainObject(command)) return fail(path, 'must have a command_name and a description')
  checkNames(command, COMMAND_KEYS, path, fail)
  const name = textIn(command, [...path, 'command_name'], fail)
  const description = textIn(command, [...path, 'description'], fail)
  const { response, parameter, parameters } = command
  const gives = isPlainObject(response) ? response.description : response
  const fields = Array.isArray(parameters)
    ? reader.byName(parameters, [...path, 'parameters'])
    : parameters
  const at = [...path, fields ? 'parameters' : 'parameter']
  return {
    name,
    description,
    response: typeof gives === 'string' ? gives : gives ? JSON.stringify(gives) : '',
    ...readParameter(fields ?? parameter ?? {}, at, reader),
  }
}

type ReadParameter = Pick<YamlCommand, 'schema' | 'isObject' | 'isWhole' | 'isRequired'>

function readParameter(parameter: unknown, path: Path, reader: TypeReader): ReadParameter {
  const { fail } = reader
  if (!isPlainObject(parameter)) return fail(path, 'must have fields, or a type')
  const own: Record<string, unknown> = {}
  const fields: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(parameter)) {
    // A field may have any name. Only "items" and a "type" with fields describe the parameter itself by a mapping.
    const isOwn = !isPlainObject(value) || key === 'items' || (key === 'type' && hasFields(value))
    putKey(isOwn ? own : fields, key, value)
  }
  const names = Object.keys(fields)
  const { schema, isRequired } = reader.field({ type: 'object', ...own }, path)
  const { asset_ref_acceptable, ...plain } = schema
  const isObject = plain.type === 'object'
  if (!isObject && names.length > 0)
    fail([...path, 'type'], 'must be object, since there are fields')
  const isTwice = isPlainObject(own.type) && names.length > 0
  if (isTwice)
    fail([...path, names[0] ?? ''], 'must be under "type", together with the other fields')
  const isWhole = asset_ref_acceptable === true
  const whole = isObject && !isPlainObject(own.type) ? reader.fields(fields, path) : {}
  return { schema: { ...plain, ...whole }, isObject, isWhole, isRequired }
}

/** Whether a mapping under `type` contains fields, and does not describe a field called "type". */
function hasFields(mapping: object): boolean {
  const { _type_ref: _, ...fields } = mapping as Record<string, unknown>
  return Object.values(fields).length > 0 && Object.values(fields).every(isPlainObject)
}

function textIn(object: Record<string, unknown>, path: Path, fail: Fail): string {
  const value = object[String(path.at(-1))]
  return typeof value === 'string' && value.trim() !== ''
    ? value.trim()
    : fail(path, 'must be text')
}

/** Returns the node at the path, or its nearest parent. */
function nearest(path: Path, get: (keys: Path) => unknown): unknown {
  for (let length = path.length; length > 0; length--) {
    const node = get(path.slice(0, length))
    if (node) return node
  }
  return undefined
}

function pathText(path: Path): string {
  return path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : i > 0 ? `.${key}` : key))
    .join('')
}

/** Converts the document to JavaScript. An alias without an anchor fails only here. */
function toJs(document: { toJS(): unknown }): unknown {
  try {
    return document.toJS()
  } catch (cause) {
    throw invalid(`The plugin's YAML cannot be read: ${errorMessage(cause)}`)
  }
}

function invalid(message: string): ByrefError {
  return new ByrefError('config_invalid', message)
}
