import { describe, expect, it } from 'vitest'
import { argumentsInText, dataInText, jsonOrText } from './json-in-text.ts'

describe('dataInText', () => {
  it('keeps all digits of whole numbers, as text where JavaScript would round them', () => {
    const text =
      '{"id":12345678901234567890,"ids":[ -9007199254740993 ],"n":1e3,"x":9007199254740991}'
    expect(dataInText(text)).toEqual({
      id: '12345678901234567890',
      ids: ['-9007199254740993'],
      n: 1000,
      x: 9007199254740991,
    })
    expect(jsonOrText('12345678901234567890')).toBe('12345678901234567890')
  })

  it('leaves decimals and the digits in texts as they are', () => {
    const value = {
      pi: Math.PI,
      long: 'a: 12345678901234567890, b',
      id: 1234567890123456,
    }
    expect(dataInText(JSON.stringify(value))).toEqual(value)
    expect(dataInText('{"pi":3.14159265358979323846,"id":12345678901234567890}')).toEqual({
      pi: Math.PI,
      id: '12345678901234567890',
    })
  })
})

describe('argumentsInText', () => {
  it('returns numbers as numbers, and no text', () => {
    const text = '{"at":1732791572000000001,"ids":[1]}'
    expect(argumentsInText(text)).toEqual(JSON.parse(text))
    for (const other of ['', '7', 'null', '"text"', '{"cut']) {
      expect(argumentsInText(other)).toBeUndefined()
    }
  })
})
