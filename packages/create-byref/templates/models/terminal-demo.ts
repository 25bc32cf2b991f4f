import { scriptedModel } from 'byref/testing'

/**
 * A script in place of a model, so that this project runs without a key. Whatever you ask, it opens rain.csv and
 * summarizes a column.
 */
export const model = scriptedModel(({ prompt }) => {
  const said = prompt.findLast(({ role }) => role === 'assistant')
  if (!JSON.stringify(said ?? '').includes('tool-call')) {
    return {
      text: 'I will open rain.csv.',
      calls: [
        { name: 'open_file', arguments: { path: 'rain.csv', _outputPath: '†file' } },
        { name: 'summarize', arguments: { rows: '†file.ref', column: 'rain_mm' } },
      ],
    }
  }
  const result = prompt.findLast(({ role }) => role === 'tool')
  const results = JSON.stringify(result?.content).replaceAll('\\', '')
  const [, count, total] = /"count":(\d+),"total":([\d.]+)/.exec(results) ?? []
  return count
    ? `It rained ${total} mm in ${count} days. (I am a script, so I always add up rain.csv. My prompt had its first rows only.)`
    : `The tools failed: ${results}`
})
