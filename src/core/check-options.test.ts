import { describe, expect, it } from 'vitest'
import { called } from './called.ts'
import { checkMethods, checkOptions, is, type OptionTable } from './check-options.ts'

interface Trip {
  to: string
  via?: readonly string[]
  days?: number
  seat?: { window?: boolean; class: 'first' | 'second' }
  pay?: 'cash' | { card: string }
}

const TRIP: OptionTable<Trip> = {
  to: is.required(is.string),
  via: is.listOf(is.string),
  days: is.count,
  seat: is.group({ window: is.boolean, class: is.required(is.oneOf('first', 'second')) }),
  pay: is.either(is.oneOf('cash'), is.group<{ card: string }>({ card: is.required(is.string) })),
}

const check = (options: unknown) => () => checkOptions('book', options as Trip, TRIP)

describe('checkOptions', () => {
  it('returns valid options, and treats undefined as absent', () => {
    const trip = { to: 'Rome', via: ['Turin'], days: undefined, seat: { class: 'first' } } as const
    expect(check(trip)()).toBe(trip)
    expect(checkOptions<{ fast?: boolean }>('book', undefined, { fast: is.boolean })).toEqual({})
  })

  it.each([
    [
      { ot: 'Rome' },
      'Unknown option "ot" in book. Did you mean "to"? Valid options: to, via, days, seat, pay',
    ],
    [{ to: 'Rome', dyas: 1 }, 'Unknown option "dyas" in book. Did you mean "days"?'],
    [{ to: 'Rome', DAYS: 1 }, 'Unknown option "DAYS" in book. Did you mean "days"?'],
    [{ to: 'Rome', day: 1 }, 'Did you mean "days" or "pay"?'],
    [{ to: 'Rome', luggage: 1 }, 'Unknown option "luggage" in book. Valid options:'],
    [{ to: 'Rome', prize: 1 }, 'Unknown option "prize" in book. Valid options:'],
    [{ to: 'Rome', toString: 1 }, 'Unknown option "toString" in book.'],
    [{ to: 'Rome', seat: { windo: true } }, 'Unknown option "windo" in book.seat. Did you mean'],
    [{ to: 'Rome', pay: { crad: 'x' } }, 'Unknown option "crad" in book.pay. Did you mean "card"?'],
    [{}, 'book needs the option "to": a string'],
    [{ to: 'Rome', seat: {} }, 'book.seat needs the option "class": "first" or "second"'],
    [{ to: 5 }, 'book.to must be a string, not 5'],
    [{ to: 'Rome', days: 1.5 }, 'book.days must be a whole number, 1 or more, not 1.5'],
    [{ to: 'Rome', days: '3' }, 'book.days must be a whole number, 1 or more, not "3"'],
    [{ to: 'Rome', days: null }, 'book.days must be a whole number, 1 or more, not null'],
    [{ to: 'Rome', via: 'Turin' }, 'book.via must be an array, each item a string, not a string'],
    [{ to: 'Rome', via: ['Turin', 2] }, 'book.via[1] must be a string, not 2'],
    [{ to: 'Rome', seat: Promise.resolve() }, 'not a promise: await it first'],
    ['Rome', 'book takes an object of options, not a string'],
    [null, 'book takes an object of options, not null'],
    [[], 'book takes an object of options, not an array'],
  ])('rejects %j', (options, message) => {
    const error = expect.objectContaining({ code: 'config_invalid' })
    expect(check(options)).toThrow(error)
    expect(check(options)).toThrow(message)
  })

  it('suggests the option that other libraries call by this name', () => {
    const table = { id: is.required(called(is.string, 'name', 'title')), note: is.string }
    const make = (options: unknown) => () =>
      checkOptions<{ id: string; note?: string }>('make', options as never, table)
    expect(make({ name: 'x' })).toThrow('Unknown option "name" in make. Did you mean "id"?')
    expect(make({ title: 'x' })).toThrow('Did you mean "id"?')
    expect(make({ noet: 'x' })).toThrow('Did you mean "note"?')
    expect(make({ id: 'x' })()).toEqual({ id: 'x' })
  })

  it('does not repeat strings that may be secrets', () => {
    expect(check({ to: 'Rome', seat: 'secret' })).toThrow(
      'book.seat must be an object of options, not a string',
    )
  })

  it('does not compile without a check for each option, and the right one', () => {
    // @ts-expect-error: an option without a check
    const without: OptionTable<{ a?: string; b?: string }> = { a: is.string }
    // @ts-expect-error: a check without an option
    const more: OptionTable<{ a?: string }> = { a: is.string, b: is.string }
    // @ts-expect-error: another type
    const other: OptionTable<{ a?: number }> = { a: is.string }
    // @ts-expect-error: one value of two
    const half: OptionTable<{ a?: 'x' | 'y' }> = { a: is.oneOf('x') }
    // @ts-expect-error: it must be given
    const required: OptionTable<{ a: string }> = { a: is.string }
    expect([without, more, other, half, required]).toHaveLength(5)
  })
})

describe('checkMethods', () => {
  it('throws if the method would throw, and rejects if the method returns a promise', async () => {
    interface Desk {
      now(options?: { fast?: boolean }): string
      later(name: string, options?: { fast?: boolean }): Promise<string>
    }
    const desk = checkMethods<Desk>(
      'desk',
      { now: () => 'done', later: async (name) => name },
      { now: { 0: { fast: is.boolean }, throws: true }, later: { 1: { fast: is.boolean } } },
    )
    expect(desk.now({ fast: true })).toBe('done')
    expect(() => desk.now({ fats: true } as never)).toThrow('in desk.now. Did you mean "fast"?')
    await expect(desk.later('a')).resolves.toBe('a')
    await expect(desk.later('a', { fats: true } as never)).rejects.toThrow('in desk.later.')
  })
})
