import { describe, expect, it } from 'vitest'
import { diagramsIn } from './save-diagrams.ts'

describe('diagramsIn', () => {
  it('finds the diagrams in the texts of a value, without their indentation', () => {
    const text = [
      '```mermaid\nflowchart LR\n  A --> B\n```',
      '1. In a list:\n\n   ~~~mermaid\n   pie\n     "a": 1\n   ~~~',
      '> ```mermaid\n> gantt\n> ```',
    ].join('\n\n')
    expect(diagramsIn({ event: { payload: { content: [{ type: 'text', text }] } } })).toEqual([
      'flowchart LR\n  A --> B',
      'pie\n  "a": 1',
      'gantt',
    ])
  })

  it('finds none in other code, and no unclosed ones', () => {
    expect(diagramsIn(['```js\nmermaid\n```', '```mermaid\npie', null, 1])).toEqual([])
  })
})
