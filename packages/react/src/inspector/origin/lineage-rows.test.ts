import type { LineageInfo } from 'byref/client'
import { describe, expect, it } from 'vitest'
import { lineageRows } from './lineage-rows.ts'

function lineage(...edges: [string, string][]): LineageInfo {
  const ids = [...new Set(edges.flat())]
  return {
    of: [],
    nodes: ids.map((id) => ({ id, type: 'call' as const })),
    edges: edges.map(([from, to]) => ({ from, to })),
  }
}

describe('lineageRows', () => {
  it('puts each value after all of its sources, in any input order', () => {
    const { rows } = lineageRows(lineage(['b', 'c'], ['a', 'b'], ['a', 'c'], ['c', 'd']))
    expect(rows.map(({ node }) => node.id)).toEqual(['a', 'b', 'c', 'd'])
    expect(rows[2]).toMatchObject({ from: ['b', 'a'], to: ['d'] })
  })

  it('keeps a lane open while something is made from it, and then reuses it', () => {
    const { rows, lanes } = lineageRows(lineage(['a', 'b'], ['a', 'c'], ['c', 'd']))
    const [a, b, c, d] = rows
    expect(a).toMatchObject({ lane: 0, goesOn: true, passing: [] })
    // The lane of `a` runs past `b`, on to `c`.
    expect(b).toMatchObject({ lane: 1, incoming: [0], passing: [0], goesOn: false })
    expect(c).toMatchObject({ lane: 0, incoming: [0], passing: [], goesOn: true })
    expect(d).toMatchObject({ lane: 0, incoming: [0], goesOn: false })
    expect(lanes).toBe(2)
  })

  it('shows each node of a cycle once', () => {
    const { rows } = lineageRows(lineage(['a', 'b'], ['b', 'c'], ['c', 'b']))
    expect(rows.map(({ node }) => node.id).sort()).toEqual(['a', 'b', 'c'])
  })

  it('draws a thousand steps of one source without a line for each pair', () => {
    const many = Array.from({ length: 1000 }, (_, i): [string, string] => ['a', `n${i}`])
    const { rows, lanes } = lineageRows(lineage(...many))
    expect(rows).toHaveLength(1001)
    expect(lanes).toBe(2)
  })
})
