import { PNG } from 'pngjs'
import { describe, expect, it } from 'vitest'
import { axisTicks, BAR_COLOR, barChartSvg, drawBarChart } from './bar-chart.ts'

describe('drawBarChart', () => {
  it('draws a PNG with words on it', async () => {
    const bars = [{ label: 'a', value: 1 }]
    const png = await drawBarChart({ title: 'Title', valueLabel: 'value', bars })
    const { width, height, data } = PNG.sync.read(Buffer.from(png))
    expect([width, height]).toEqual([960, 480])
    const dark = data.subarray(0, width * 40 * 4).filter((byte, i) => i % 4 === 0 && byte < 90)
    expect(dark.length, 'dark pixels of the title').toBeGreaterThan(50)
  })
})

describe('barChartSvg', () => {
  const heights = (values: number[]): number[] => {
    const bars = values.map((value, i) => ({ label: `${i}`, value }))
    const svg = barChartSvg({ title: '', valueLabel: '', bars })
    return [...svg.matchAll(new RegExp(`height="([\\d.]+)" fill="${BAR_COLOR}"`, 'g'))].map(
      (match) => Number(match[1]),
    )
  }

  it('makes bars as tall as their values', () => {
    const [a = 0, b = 0, c = 0] = heights([10, 20, 5])
    expect(b / a).toBeCloseTo(2, 2)
    expect(a / c).toBeCloseTo(2, 2)
  })

  it('draws values below zero, only zeros, and very large ones', () => {
    const [a = 0, b = 0] = heights([-10, 10])
    expect(a).toBeCloseTo(b, 5)
    expect(heights([0, 0])).toEqual([0, 0])
    expect(heights([1e12, 5e11]).every(Number.isFinite)).toBe(true)
  })

  it('writes numbers with separators, and the note below the labels', () => {
    const bars = ['Blue Harbour Foods', 'Ferro & Sons Limited'].map((name) => ({
      label: name.repeat(9),
      value: 20_000,
    }))
    const svg = barChartSvg({ title: '', valueLabel: '', bars, note: 'Left out' })
    expect(svg).toContain('>20,000</text>')
    const noteAt = Number(/y="([\d.]+)"[^>]*>Left out</.exec(svg)?.[1])
    const labelAt = Number(/y="([\d.]+)"[^>]*>Blue/.exec(svg)?.[1])
    // A slanted label of 16 characters extends 61 pixels down.
    expect(noteAt - 12).toBeGreaterThan(labelAt + 61)
  })

  it('writes the values above the bars, unless they are too wide', () => {
    const svg = (count: number): string => {
      const bars = Array.from({ length: count }, (_, i) => ({ label: `${i}`, value: 1234.567 }))
      return barChartSvg({ title: '', valueLabel: '', bars })
    }
    expect(svg(3).match(/>1,234\.57<\/text>/g)).toHaveLength(3)
    const [, bar] = /y="([\d.]+)"[^>]*fill="#4269d0"/.exec(svg(3)) ?? []
    const [, label] = /y="([\d.]+)"[^>]*>1,234\.57</.exec(svg(3)) ?? []
    expect(Number(label)).toBeLessThan(Number(bar))
    expect(svg(40)).not.toContain('1,234.57')
  })

  it('escapes the names of columns', () => {
    const bars = [{ label: '<script>&"\u0000', value: 1 }]
    const svg = barChartSvg({ title: '</svg>', valueLabel: '', bars })
    expect(svg).not.toContain('<script')
    expect(svg.match(/<\/svg>/g)).toHaveLength(1)
    expect(svg).not.toContain('\u0000')
  })
})

describe('axisTicks', () => {
  it('covers both ends in round steps', () => {
    expect(axisTicks(0, 284.5)).toEqual([0, 100, 200, 300])
    expect(axisTicks(-3, 7)).toEqual([-4, -2, 0, 2, 4, 6, 8])
    expect(axisTicks(0, 0)).toEqual([0, 0.2])
    expect(axisTicks(0, 0.03)).toEqual([0, 0.01, 0.02, 0.03])
  })
})
