import { OptionError } from './errors.ts'

interface AnyCheck {
  /** The accepted values, as an error message describes them: "a positive number". */
  readonly expected: string
  accepts(value: unknown): boolean
  /** Checks the contents of an accepted value: nested options, the items of a list. */
  inside?(value: unknown, path: string): void
  /** Whether an error may quote a rejected string. False if it may be a secret. */
  readonly quotes?: boolean
  readonly isRequired?: true
  /** Other names, which an error suggests this option for: see `called`. */
  readonly aka?: readonly string[]
}

/**
 * The check of an option. `Value` is exactly the option's type: a check for another type is a compile error.
 * Rules beyond the type are checked where the value is used.
 */
export interface Check<Value> extends AnyCheck {
  /** Never set: it makes `Check` invariant. */
  readonly type?: (value: Value) => Value
}

type KeyOf<Options> = Options extends unknown ? keyof Options & string : never
type ValueOf<Options, Key> = Options extends unknown
  ? Key extends keyof Options
    ? Exclude<Options[Key], undefined>
    : never
  : never

/**
 * A check for each option of a type; for a union type, each option of its members. A missing check, a check of
 * another type, and a required option without `is.required` are compile errors.
 */
export type OptionTable<Options> = {
  readonly [Key in KeyOf<Options>]-?: [Options] extends [{ [Required in Key]: unknown }]
    ? Check<ValueOf<Options, Key>> & { readonly isRequired: true }
    : Check<ValueOf<Options, Key>>
}

type AnyTable = Readonly<Record<string, AnyCheck>>

/** Option tables by method and by parameter position, counted from 0. */
export type MethodTables<Methods> = {
  readonly [Name in keyof Methods]?: Exclude<Methods[Name], undefined> extends (
    ...args: infer Args
  ) => infer Result
    ? {
        readonly [At in 0 | 1 | 2 | 3]?: OptionTable<Exclude<Args[At], undefined>>
      } & (Result extends Promise<unknown> ? unknown : { readonly throws: true })
    : never
}

/**
 * Rejects options that would otherwise be ignored or misread, and returns the options. It also protects
 * callers in plain JavaScript.
 *
 * @param where The called function as its caller writes it: `createAgent`, `agent.fork`.
 * @throws ByrefError `config_invalid` for an unknown or missing option, at any depth, and for a value of the
 *   wrong type
 */
export function checkOptions<Options>(
  where: string,
  options: Options | undefined,
  table: OptionTable<NoInfer<Options>>,
): Options {
  const checked = options === undefined ? {} : options
  checkTable(where, checked, table)
  // If `options` is undefined, the table has no required options.
  return checked as Options
}

/**
 * Makes the methods of an object check their options first, and returns the object. A method that returns a
 * promise rejects; other methods throw.
 */
export function checkMethods<Methods extends object>(
  where: string,
  methods: Methods,
  tables: MethodTables<NoInfer<Methods>>,
): Methods {
  for (const { name, throws, positions } of checkedMethods(tables)) {
    const method: unknown = Reflect.get(methods, name)
    if (typeof method !== 'function') continue
    const called = `${where}.${name}`
    Reflect.set(methods, name, (...args: unknown[]): unknown => {
      try {
        for (const { at, table } of positions) {
          checkTable(called, args[at] === undefined ? NO_OPTIONS : args[at], table)
        }
      } catch (error) {
        if (throws) throw error
        return Promise.reject(error)
      }
      return Reflect.apply(method, methods, args)
    })
  }
  return methods
}

const NO_OPTIONS = {}

interface CheckedMethod {
  name: string
  throws: boolean
  positions: readonly { at: number; table: AnyTable }[]
}

/** Cached by table, because objects are created more often than tables. */
const knownMethods = new WeakMap<object, readonly CheckedMethod[]>()

function checkedMethods(tables: object): readonly CheckedMethod[] {
  const cached = knownMethods.get(tables)
  if (cached) return cached
  const methods = Object.entries(tables).map(
    ([name, entry]: [string, Record<string, AnyTable>]) => {
      const { throws, ...byPosition } = entry
      const positions = Object.entries(byPosition).map(([at, table]) => ({ at: Number(at), table }))
      return { name, throws: throws !== undefined, positions }
    },
  )
  knownMethods.set(tables, methods)
  return methods
}

/**
 * @throws ByrefError `config_invalid` if the check rejects the value or something in it
 */
export function checkValue(check: AnyCheck, value: unknown, path: string): void {
  if (!check.accepts(value)) {
    const actual = describe(value, check.quotes === true)
    throw invalid(`${path} must be ${check.expected}, not ${actual}`)
  }
  check.inside?.(value, path)
}

/** The checks for options. */
export const is = {
  string: checked<string>('a string', (value) => typeof value === 'string'),
  boolean: checked<boolean>('true or false', (value) => typeof value === 'boolean'),
  number: checked<number>('a number', (value) => typeof value === 'number'),
  finite: checked<number>('a finite number', Number.isFinite),
  integer: checked<number>('an integer', Number.isSafeInteger),
  positive: checked<number>('a positive number', (value) => isAtLeast(value, Number.MIN_VALUE)),
  notNegative: checked<number>('a number, 0 or more', (value) => isAtLeast(value, 0)),
  /** Like `wholeNumber`, but at least 1. Both accept Infinity, which means no limit. */
  count: checked<number>('a whole number, 1 or more', (value) => isWhole(value, 1)),
  wholeNumber: checked<number>('a whole number, 0 or more', (value) => isWhole(value, 0)),
  signal: having<AbortSignal>('an AbortSignal', 'addEventListener'),
  /** Any value; its reader validates it. */
  anything: { expected: 'a value', accepts: () => true } satisfies AnyCheck,
  callback: <Value>(): Check<Value> => {
    return { expected: 'a function', accepts: (value) => typeof value === 'function' }
  },
  oneOf: <const Value extends string>(...values: Value[]): Check<Value> => {
    const expected = values.map((value) => `"${value}"`).join(' or ')
    return checked(expected, (value) => values.some((one) => one === value))
  },
  checked,
  having,
  listOf,
  recordOf,
  /** An object of nested options. */
  group: <Options>(table: OptionTable<Options>): Check<Options> => ({
    expected: 'an object of options',
    accepts: isOptions,
    inside: (value, path) => checkTable(path, value, table),
  }),
  either,
  nullable: <Value>(check: Check<Value>): Check<Value | null> =>
    either({ expected: 'null', accepts: (value) => value === null }, check),
  required: <Given extends AnyCheck>(check: Given): Given & { readonly isRequired: true } => {
    return { ...check, isRequired: true }
  },
  /** Returns the same check for several names. */
  all: <const Name extends string, Same>(same: Same, ...names: Name[]) =>
    Object.fromEntries(names.map((name) => [name, same])) as { readonly [Key in Name]: Same },
}

/** A check with a custom test, for values that are not secrets. */
function checked<Value>(expected: string, accepts: (value: unknown) => boolean): Check<Value> {
  return { expected, accepts, quotes: true }
}

/** An object that is more than plain data, recognized by its methods or properties. */
function having<Value extends object>(
  expected: string,
  ...names: (keyof Value & string)[]
): Check<Value> {
  return { expected, accepts: (value) => isOptions(value) && names.every((name) => name in value) }
}

function listOf<Value, List extends readonly Value[] = readonly Value[]>(
  check: Check<Value>,
): Check<List> {
  return {
    expected: `an array, each item ${check.expected}`,
    accepts: Array.isArray,
    inside: (value, path) =>
      Array.from(Object(value), (item, i) => checkValue(check, item, `${path}[${i}]`)),
  }
}

function recordOf<Value>(check: Check<Value>): Check<Readonly<Record<string, Value>>> {
  return {
    expected: `an object, each value ${check.expected}`,
    accepts: isOptions,
    inside(value, path) {
      for (const [key, item] of Object.entries(Object(value))) {
        checkValue(check, item, `${path}.${key}`)
      }
    },
  }
}

/** Accepts the values of both checks. */
function either<A, B>(first: Check<A>, second: Check<B>): Check<A | B> {
  return {
    expected: `${first.expected} or ${second.expected}`,
    accepts: (value) => first.accepts(value) || second.accepts(value),
    inside: (value, path) => (first.accepts(value) ? first : second).inside?.(value, path),
    quotes: first.quotes === true || second.quotes === true,
  }
}

function checkTable(where: string, given: unknown, table: AnyTable): void {
  if (!isOptions(given)) {
    throw invalid(`${where} takes an object of options, not ${describe(given, false)}`)
  }
  for (const key in given) {
    if (!Object.hasOwn(table, key) && Object.hasOwn(given, key)) {
      throw unknownOption(where, key, table)
    }
  }
  let missing: string | null = null
  for (const name in table) {
    const check = table[name] as AnyCheck
    const value = (given as Readonly<Record<string, unknown>>)[name]
    if (value === undefined) {
      if (check.isRequired) missing ??= name
    } else if (check.inside || !check.accepts(value)) checkValue(check, value, `${where}.${name}`)
  }
  if (missing === null) return
  throw invalid(`${where} needs the option "${missing}": ${table[missing]?.expected}`)
}

function unknownOption(where: string, key: string, table: AnyTable): OptionError {
  const names = Object.keys(table)
  const meant = names.find((name) => table[name]?.aka?.includes(key)) ?? key
  return invalid(
    `Unknown option "${key}" in ${where}.${didYouMean(meant, names)} Valid options: ${names.join(', ') || 'none'}`,
  )
}

/** Returns ` Did you mean "x"?`, or an empty text if no name is similar. */
export function didYouMean(key: string, names: readonly string[]): string {
  const meant = nearest(key, names)
    .map((name) => `"${name}"`)
    .join(' or ')
  return meant && ` Did you mean ${meant}?`
}

/**
 * Returns the names that a misspelling may stand for: those with the smallest distance, if it is small enough.
 */
function nearest(key: string, names: readonly string[]): string[] {
  const farthest = Math.ceil(key.length / 4) || 1
  const distances = names.map((name) => distance(key.toLowerCase(), name.toLowerCase()))
  const least = Math.min(...distances)
  return names.filter((_, i) => least <= farthest && distances[i] === least)
}

/**
 * Counts the differing characters after removing the common prefix and suffix. Reordered characters count as
 * one.
 */
function distance(a: string, b: string): number {
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const first = [...a.slice(start, a.length - end)]
  const second = [...b.slice(start, b.length - end)]
  const most = Math.max(first.length, second.length)
  const isSwap = first.toSorted().join() === second.toSorted().join()
  return isSwap ? Math.min(1, most) : most
}

/** Describes a rejected value. Strings are quoted only if they cannot be secrets. */
function describe(value: unknown, quotes: boolean): string {
  if (typeof value === 'string') return quotes ? JSON.stringify(value.slice(0, 60)) : 'a string'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  if (typeof value !== 'object' || value === null) return `${value}`
  return isPromise(value) ? 'a promise: await it first' : 'an object'
}

function isPromise(value: object): boolean {
  return 'then' in value && typeof value.then === 'function'
}

function isOptions(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isPromise(value)
}

function isAtLeast(value: unknown, least: number): boolean {
  return typeof value === 'number' && value >= least
}

function isWhole(value: unknown, least: number): boolean {
  return isAtLeast(value, least) && (value === Infinity || Number.isSafeInteger(value))
}

function invalid(message: string): OptionError {
  return new OptionError(message)
}
