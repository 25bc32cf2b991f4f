import { describe, expect, it } from 'vitest'
import { stepTitle } from './step-title.ts'

const calls = (...names: string[]) => names.map((name) => ({ name }))

describe('stepTitle', () => {
  it.each([
    [
      'I will chart the sum of rain by month from w.csv, passing the rows by reference. And more.',
      'Chart the sum of rain by month from w.csv, passing the rows by reference',
    ],
    ['Okay, let me look at **both** files:\n\n- a\n- b', 'Look at both files'],
    ['Now I’ll read `†state.total`.', 'Read †state.total'],
    ['Version 2.5 is asked for. Next.', 'Version 2.5 is asked for'],
    ['I am certain', 'I am certain'],
  ])('is the first sentence of the commentary, without phrases of intent: %s', (text, title) => {
    expect(stepTitle(text, calls('tool'))).toBe(title)
  })

  it('consists of the names of the tools if there is no commentary', () => {
    expect(stepTitle('', calls('chart_rows', 'readFile', 'readFile'))).toBe(
      'Chart rows, read file × 2',
    )
    expect(stepTitle({ odd: 1 }, calls('mail.send'))).toBe('Mail send')
    expect(stepTitle(undefined, [])).toBe('Step')
  })

  it('contains the words of a search for tools', () => {
    const search = (query: unknown) => ({ name: 'search_tools', arguments: { query } })
    expect(stepTitle('', [search('an invoice')])).toBe('Search tools for “an invoice”')
    expect(stepTitle('', [search(7)])).toBe('Search tools')
  })

  it('is linear in hostile text', () => {
    expect(stepTitle('first '.repeat(500_000), calls('x')).length).toBeLessThan(200)
    expect(stepTitle(`${'['.repeat(500_000)}`, calls('x')).length).toBeLessThan(200)
  })
})
