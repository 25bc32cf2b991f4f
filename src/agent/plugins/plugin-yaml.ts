import { isPlainObject, putKey } from '../../content/json.ts'
import { ByrefError, errorMessage } from '../../errors.ts'
import type { JsonSchema } from '../tools/describe-schema.ts'

/** A command as its YAML describes it. */
export interface YamlCommand {
  name: string
  description: string
  /** What it gives, in words; empty where nothing is said. */
  response: string
  /** Of its whole parameter. */
  schema: JsonSchema
  /** The parameter has fields. */
  isObject: boolean
  /** One reference may stand for the whole parameter. */
  isWhole: boolean
  isRequired: boolean
}

/** A plugin as its YAML describes it. */
export interface YamlPlugin {
  name: string
  title: string
  description: string
  commands: YamlCommand[]
}

/** Says where in the YAML something is wrong, and throws. */
type Fail = (path: readonly (string | number)[], what: string) => never

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
  const { info, commands, ...more } = root as Record<string, unknown>
  const [odd] = Object.keys(more)
  if (odd !== undefined) fail([odd], 'is not known; there are info and commands')
  if (!isPlainObject(info)) return fail(['info'], 'must have a title and a description')
  const title = textIn(info, ['info', 'title'], fail)
  if (!Array.isArray(commands) || commands.length === 0) {
    return fail(['commands'], 'must be a list of commands')
  }
  const read = commands.map((command, i) => readCommand(command, ['commands', i], fail))
  for (const [i, { name }] of read.entries()) {
    const isTwice = read.findIndex((other) => other.name === name) !== i
    if (isTwice) fail(['commands', i, 'command_name'], `is "${name}" a second time`)
  }
  return {
    name: info.name === undefined ? title : textIn(info, ['info', 'name'], fail),
    title,
    description: info.description === undefined ? '' : textIn(info, ['info', 'description'], fail),
    commands: read,
  }
}

type Path = readonly (string | number)[]

const COMMAND_KEYS = ['command_name', 'description', 'parameter', 'response']

function readCommand(command: unknown, path: Path, fail: Fail): YamlCommand {
  if (!isPlainObject(command)) return fail(path, 'must have a command_name and a description')
  for (const key of Object.keys(command)) {
    if (!COMMAND_KEYS.includes(key)) {
      fail([...path, key], `is not known; there are ${COMMAND_KEYS.join(', ')}`)
    }
  }
  const name = textIn(command, [...path, 'command_name'], fail)
  const description = textIn(command, [...path, 'description'], fail)
  const { response, parameter } = command
  const gives = isPlainObject(response) ? response.description : response
  return {
    name,
    description,
    response: typeof gives === 'string' ? gives : gives ? JSON.stringify(gives) : '',
    ...readParameter(parameter ?? {}, [...path, 'parameter'], fail),
  }
}

type ReadParameter = Pick<YamlCommand, 'schema' | 'isObject' | 'isWhole' | 'isRequired'>

function readParameter(parameter: unknown, path: Path, fail: Fail): ReadParameter {
  if (!isPlainObject(parameter)) return fail(path, 'must have fields, or a type')
  const own: Record<string, unknown> = {}
  const properties: Record<string, JsonSchema> = {}
  const required: string[] = []
  for (const [key, value] of Object.entries(parameter)) {
    // A field may have any name: what describes the parameter itself is no mapping.
    if (!isPlainObject(value) || key === 'items') {
      own[key] = value
      continue
    }
    const { schema, isRequired } = readField(value, [...path, key], fail)
    putKey(properties, key, schema)
    if (isRequired) required.push(key)
  }
  const { schema, isRequired } = readField({ type: 'object', ...own }, path, fail)
  const { asset_ref_acceptable, ...plain } = schema
  const isObject = plain.type === 'object'
  if (!isObject && Object.keys(properties).length > 0) {
    fail([...path, 'type'], `must be object, since there are fields`)
  }
  const fields = {
    properties,
    required,
    additionalProperties: Object.keys(properties).length === 0,
  }
  const isWhole = asset_ref_acceptable === true
  return { schema: isObject ? { ...plain, ...fields } : plain, isObject, isWhole, isRequired }
}

/** Types as they are written for Python, too. */
const TYPES: Readonly<Record<string, string>> = {
  ...{ string: 'string', number: 'number', integer: 'integer', boolean: 'boolean' },
  ...{ object: 'object', array: 'array', null: 'null' },
  ...{
    str: 'string',
    float: 'number',
    int: 'integer',
    bool: 'boolean',
    dict: 'object',
    list: 'array',
  },
}

/** A description as JSON Schema: `required` says whether it must be there (default true), `example` is one of `examples`. */
function readField(
  { type, required, example, ...rest }: Record<string, unknown>,
  path: Path,
  fail: Fail,
): { schema: JsonSchema; isRequired: boolean } {
  if (type !== undefined && !(typeof type === 'string' && Object.hasOwn(TYPES, type))) {
    fail([...path, 'type'], `is one of ${Object.keys(TYPES).join(', ')}`)
  }
  const { description, enum: choices, asset_ref_acceptable: flag } = rest
  if (description !== undefined && typeof description !== 'string') {
    fail([...path, 'description'], 'must be text')
  }
  if (choices !== undefined && !Array.isArray(choices)) fail([...path, 'enum'], 'must be a list')
  if (flag !== undefined && typeof flag !== 'boolean') {
    fail([...path, 'asset_ref_acceptable'], 'must be true or false')
  }
  // Within an object it may be JSON Schema's list.
  if (required !== undefined && typeof required !== 'boolean' && !Array.isArray(required)) {
    fail([...path, 'required'], 'must be true or false')
  }
  const schema = {
    ...(type === undefined ? {} : { type: TYPES[type as string] }),
    ...rest,
    ...(Array.isArray(required) ? { required } : {}),
    ...(example === undefined ? {} : { examples: [example] }),
  }
  return { schema, isRequired: required !== false }
}

function textIn(object: Record<string, unknown>, path: Path, fail: Fail): string {
  const value = object[String(path.at(-1))]
  return typeof value === 'string' && value.trim() !== ''
    ? value.trim()
    : fail(path, 'must be text')
}

/** The node at the path, or the nearest above it. */
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

/** An alias without an anchor fails only here. */
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
