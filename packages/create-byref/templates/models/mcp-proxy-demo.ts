import { scriptedModel } from 'byref/testing'

/**
 * A script in place of a model, so that try.ts runs without a key. Whatever you ask, it reads the weather of 2025 and
 * summarizes it.
 */
export const model = scriptedModel(({ prompt }) => {
  const results = prompt.filter(({ role }) => role === 'tool').map(({ content }) => text(content))
  const [read, summary] = results
  if (read === undefined) return { calls: [{ name: 'read_weather', arguments: { year: 2025 } }] }
  const [reference] = /asset:\/\/\w+/.exec(read) ?? []
  if (summary === undefined && reference)
    return { calls: [{ name: 'summarize', arguments: { numbers: `${reference}/content` } }] }
  const [, average] = /"average":([-\d.]+)/.exec(summary ?? '') ?? []
  const size = text(prompt).length
  return average
    ? `It was ${average} °C on average. My prompt had ${size} characters: the first of 8,760 numbers.`
    : `The tools failed: ${results.join('\n')}`
})

/** Returns the JSON of the messages, without the escapes of JSON inside JSON. */
function text(value: unknown): string {
  return JSON.stringify(value).replaceAll('\\', '')
}
