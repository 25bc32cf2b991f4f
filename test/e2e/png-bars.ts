import { PNG } from 'pngjs'
import { BAR_COLOR } from '../../demo/bar-chart.ts'

/** The heights in pixels of the bars in a chart, from left to right, read from the pixels themselves. */
export function barHeights(png: Uint8Array): number[] {
  const { width, height, data } = PNG.sync.read(Buffer.from(png))
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(BAR_COLOR.slice(at, at + 2), 16))
  const isBar = (x: number, y: number): boolean => {
    const at = (y * width + x) * 4
    return data[at] === r && data[at + 1] === g && data[at + 2] === b
  }
  const columns = Array.from({ length: width }, (_, x) => {
    let count = 0
    for (let y = 0; y < height; y++) if (isBar(x, y)) count++
    return count
  })
  const bars: number[] = []
  let tallest = 0
  for (const count of [...columns, 0]) {
    if (count > 0) tallest = Math.max(tallest, count)
    else if (tallest > 0) {
      bars.push(tallest)
      tallest = 0
    }
  }
  return bars
}
