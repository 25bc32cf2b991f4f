import { describe, expect, it } from 'vitest'
import { demoQuestions, tableQuestions } from './table-questions.ts'

const columns = (types: Record<string, string>) =>
  Object.entries(types).map(([name, type]) => ({ name, type }))

describe('tableQuestions', () => {
  it('prefers amounts of money, and columns that look like categories', () => {
    const sales = columns({
      Receipt: 'string',
      Datum: 'date',
      Menge: 'integer',
      'Umsatz €': 'decimal',
      Notes: 'string',
      Filiale: 'string',
      Kategorie: 'string',
    })
    expect(tableQuestions(sales)).toEqual([
      'Chart the total Umsatz € by Filiale',
      'Chart the total Umsatz € by month',
      'Average Umsatz € by Kategorie',
      'Highest Menge',
    ])
    expect(demoQuestions(sales)).toEqual([
      'Send a report of the total Umsatz € by Filiale',
      'Demo: a failing call and its recovery',
    ])
  })

  it('does not add up prices and rates', () => {
    const stations = columns({ station: 'string', 'temp [°C]': 'number' })
    expect(tableQuestions(stations)).toEqual([
      'Chart the average temp [°C] by station',
      'Maximum temp [°C] by station',
      'Highest temp [°C]',
      'How many rows are there?',
    ])
  })

  it('groups by another column than the first, which often names the row', () => {
    const plants = columns({ Plant: 'string', Family: 'string', Height: 'number' })
    expect(tableQuestions(plants)[0]).toBe('Chart the total Height by Family')
  })

  it('has a question about any table', () => {
    expect(tableQuestions([])).toEqual(['How many rows are there?'])
    expect(demoQuestions([])).toEqual([])
  })
})
