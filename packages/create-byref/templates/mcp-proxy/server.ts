// An MCP server to try the proxy with. It knows nothing of byref.
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const server = new McpServer({ name: 'weather', version: '1.0.0' })

server.registerTool(
  'read_weather',
  {
    description: 'The temperature in each hour of a year, in °C, as a list of numbers',
    inputSchema: z.object({ year: z.number().int() }),
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  ({ year }) => {
    const hours = (Date.UTC(year + 1, 0) - Date.UTC(year, 0)) / 3_600_000
    const temperatures = Array.from({ length: hours }, (_, hour) => temperatureAt(hour))
    return { content: [{ type: 'text', text: JSON.stringify(temperatures) }] }
  },
)

server.registerTool(
  'summarize',
  {
    description: 'Count, average, least and most of a list of numbers',
    inputSchema: z.object({ numbers: z.array(z.number()) }),
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  ({ numbers }) => {
    const total = numbers.reduce((sum, one) => sum + one, 0)
    const summary = {
      count: numbers.length,
      average: Math.round((total / numbers.length) * 100) / 100,
      least: Math.min(...numbers),
      most: Math.max(...numbers),
    }
    return { content: [{ type: 'text', text: JSON.stringify(summary) }] }
  },
)

/** A placeholder for a real source of data. */
function temperatureAt(hour: number): number {
  const season = -10 * Math.cos((hour / 8760) * 2 * Math.PI)
  const day = -4 * Math.cos((hour / 24) * 2 * Math.PI)
  return Math.round((11 + season + day + 3 * Math.sin(hour / 50)) * 10) / 10
}

await server.connect(new StdioServerTransport())
