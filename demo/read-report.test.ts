import { describe, expect, it } from 'vitest'
import { readReport } from './read-report.ts'

describe('readReport', () => {
  it.each([
    ['Send a report of the total Amount by City', 'total Amount by City', null],
    ['please email me a report on Amount by City', 'Amount by City', null],
    ['Send a report of Amount by City to anna@example.com.', 'Amount by City', 'anna@example.com'],
    [
      'Send a report to anna@example.com about Amount by City',
      'about Amount by City',
      'anna@example.com',
    ],
    ['Mail anna@example.com a report of Amount by City', 'Amount by City', 'anna@example.com'],
    ['Can you send Anna a report of Amount by City?', 'Amount by City?', 'Anna'],
    ['Send a report of Amount by City to Anna Bell', 'Amount by City', 'Anna Bell'],
    ['Send a report of Amount by City to the team', 'Amount by City', 'the team'],
    [
      'Send a report of rows by City where Size is up to 5',
      'rows by City where Size is up to 5',
      null,
    ],
    ['Send a report of rows where City is equal to Oslo', 'rows where City is equal to Oslo', null],
  ])('finds the content and the recipient: %s', (question, about, to) => {
    expect(readReport(question)).toEqual({ about, to })
  })

  it('ignores other requests', () => {
    expect(readReport('total Amount by City')).toBe(null)
    expect(readReport('which report was sent?')).toBe(null)
  })
})
