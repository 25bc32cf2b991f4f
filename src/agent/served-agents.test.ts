import { describe, expect, it } from 'vitest'
import { chooseAgent } from './served-agents.ts'

describe('chooseAgent', () => {
  it('lists the valid names if it does not know one', () => {
    const agents = new Map([
      ['writer', 1],
      ['gauge', 2],
    ])
    expect(() => chooseAgent(agents, { asked: 'writr' })).toThrow(
      'Unknown agent "writr". Valid agents: "writer", "gauge"',
    )
  })

  it('says that a single agent needs no name', () => {
    expect(() => chooseAgent(new Map([[null, 1]]), { asked: 'writer' })).toThrow(
      'Unknown agent "writer". There is only one agent: leave out its name.',
    )
  })
})
