import { ByrefError } from '../../core/errors.ts'
import { type JsonObject, type JsonValue, putKey } from '../../core/json/json.ts'
import { type ReadOutput, readOutput } from '../../engine/output/output-schema.ts'
import { nestedSchema } from '../../models/json-answer.ts'

/** How an answer is requested and read. */
export interface AnswerReader {
  /** JSON Schema of the whole answer. */
  schema: JsonObject
  words: string
  read(text: string): Promise<ReadOutput<unknown>>
}

/** Maximum number of problems that are reported to the model. */
const MAX_PROBLEMS = 20

/**
 * Requests one answer per instance, as a list of `{ _instance, output }` in which each `output` fits the
 * schema of one answer. The result has the answers by instance, each as `refine` returns it. A repeated request needs to
 * contain only the answers that were missing or invalid.
 *
 * @throws ByrefError `invalid_message` if there is no instance
 */
export function instanceAnswers(
  one: JsonObject,
  instances: readonly string[],
  refine: (value: JsonValue) => Promise<ReadOutput<unknown>>,
): AnswerReader {
  if (instances.length === 0) {
    throw new ByrefError(
      'invalid_message',
      'The messages have no instances. Send data messages with an _instance.',
    )
  }
  const solved = new Map<string, unknown>()
  const expected = new Set(instances)

  async function take(item: JsonValue): Promise<string | null> {
    const { _instance: name, output } = Object(item) as Record<string, JsonValue>
    if (typeof name !== 'string' || !expected.has(name)) {
      return `unknown instance ${JSON.stringify(name ?? null)}`
    }
    const { problem, ...read } = readOutput(JSON.stringify(output ?? null), one)
    const refined =
      problem === undefined ? await refine((read as { value: JsonValue }).value) : null
    if (refined && refined.problem === undefined) solved.set(name, refined.value)
    else return `in ${JSON.stringify(name)}: ${problem ?? refined?.problem}`
    return null
  }

  return {
    schema: listOf(one),
    words:
      'The data has instances: blocks whose heading ends with "#" and a name. Work on each separately, and give one result for each, with its name as `_instance`.',
    async read(text) {
      const { problem, ...read } = readOutput(text, { type: 'object', required: ['results'] })
      if (problem !== undefined) return { problem }
      const { results } = (read as { value: { results: JsonValue } }).value
      if (!Array.isArray(results)) return { problem: '/results must be array' }
      const problems: string[] = []
      for (const item of results) {
        const found = await take(item)
        if (found !== null) problems.push(found)
      }
      const missing = instances.filter((name) => !solved.has(name))
      if (missing.length === 0) return { value: inOrder(instances, solved) }
      const names = missing.map((name) => JSON.stringify(name)).join(', ')
      const shown = problems.slice(0, MAX_PROBLEMS)
      return { problem: [...shown, `give the results for ${names} only`].join('; ') }
    },
  }
}

function inOrder(
  instances: readonly string[],
  solved: ReadonlyMap<string, unknown>,
): Record<string, unknown> {
  const outputs: Record<string, unknown> = {}
  for (const name of instances) putKey(outputs, name, solved.get(name))
  return outputs
}

/** Returns the schema of the list. */
function listOf(one: JsonObject): JsonObject {
  const { nested, definitions } = nestedSchema(one)
  const item = {
    type: 'object',
    properties: { _instance: { type: 'string' }, output: nested },
    required: ['_instance', 'output'],
    additionalProperties: false,
  }
  return {
    type: 'object',
    properties: { results: { type: 'array', items: item } },
    required: ['results'],
    additionalProperties: false,
    ...definitions,
  }
}
