import { defineTool } from 'byref'
import type { TableRows } from 'byref/stores'
import { z } from 'zod'

/** Returns 8,760 rows. The model gets a reference with a preview. */
export const weather = defineTool({
  id: 'weather',
  description: 'The temperature in each hour of a year, in °C',
  inputSchema: z.object({ year: z.number().int() }),
  idempotent: true,
  execute: ({ year }) => ({
    hours: Array.from({ length: 8760 }, (_, hour) => ({
      time: new Date(Date.UTC(year, 0, 1, hour)).toISOString(),
      temperature: temperatureAt(hour),
    })),
  }),
})

/** The model passes the reference of the rows. The chart becomes a reference too, and the page shows it. */
export const drawChart = defineTool({
  id: 'draw_chart',
  description: 'Draws a line chart of a column of numbers',
  inputSchema: z.object({
    rows: z.custom<TableRows>().meta({ asset_ref_acceptable: true, asset_ref_as: 'rows' }),
    column: z.string(),
  }),
  idempotent: true,
  async execute({ rows, column }) {
    const values: number[] = []
    for await (const row of rows) values.push(Number(row[column]))
    return { chart: new Blob([lineChart(values, column)], { type: 'image/svg+xml' }) }
  },
})

/** A placeholder for a real source of data. */
function temperatureAt(hour: number): number {
  const season = -10 * Math.cos((hour / 8760) * 2 * Math.PI)
  const day = -4 * Math.cos((hour / 24) * 2 * Math.PI)
  return Math.round((11 + season + day + 3 * Math.sin(hour / 50)) * 10) / 10
}

function lineChart(values: number[], title: string): string {
  const least = Math.min(...values)
  const most = Math.max(...values)
  const points = values.map((value, i) => {
    const x = 60 + (i / (values.length - 1 || 1)) * 720
    const y = 280 - ((value - least) / (most - least || 1)) * 240
    return `${x.toFixed(1)},${y.toFixed(1)}`
  })
  const label = title.replace(/[^\p{L}\p{N} _-]/gu, '')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 300" width="800" height="300"
    font-family="sans-serif" font-size="14">
  <rect width="800" height="300" fill="white"/>
  <text x="60" y="24">${label}</text>
  <text x="8" y="46">${most}</text>
  <text x="8" y="284">${least}</text>
  <polyline points="${points.join(' ')}" fill="none" stroke="steelblue"/>
</svg>`
}
