import { scriptedModel } from 'byref/testing'

/**
 * A script in place of a model, so that this app runs without a key. Whatever you ask, it charts a year of temperatures.
 */
export const model = scriptedModel(({ prompt }) => {
  const said = prompt.findLast(({ role }) => role === 'assistant')
  if (!JSON.stringify(said ?? '').includes('tool-call')) {
    return {
      text: 'I will draw the temperatures of 2025.',
      calls: [
        { name: 'weather', arguments: { year: 2025, _outputPath: '†weather' } },
        { name: 'draw_chart', arguments: { rows: '†weather.hours', column: 'temperature' } },
      ],
    }
  }
  const size = JSON.stringify(prompt).length
  return `Here it is. My prompt had ${size} characters: the first of 8,760 rows, and nothing of the chart.`
})
