import type { Assets } from '../assets/assets-contract.ts'
import type { Board } from '../core/board/board.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import type { ConversationState } from '../core/events/conversation-state.ts'
import {
  isOffloaded,
  OFFLOADED_KEYS,
  type OffloadedValue,
  offloadedField,
} from '../core/messages/offloaded.ts'
import { RESULT, type Results, resultName } from '../core/messages/results.ts'
import { evaluateVariable, variablesIn } from '../core/refs/evaluate-variable.ts'
import { explainMissing, type FieldKey, MISSING, ownField } from '../core/refs/field-path.ts'
import { VariableError } from '../core/refs/variable-error.ts'
import {
  formatVariable,
  formatVariableRef,
  parseVariableRef,
  type VariableExpression,
  type VariableRef,
} from '../core/refs/variable-ref.ts'
import type { CallPlan } from './call-plan.ts'

/** What a call reads by `†`: data, results, and in a mapped one its item. */
export interface DataReader {
  /**
   * The value of a reference, or a promise of it where it is kept as an asset. Throws or rejects with VariableError where
   * there is none, ByrefError `invalid_reference` for text that is no reference.
   */
  read(text: string): unknown
  /** Whether `read` would give a value now, as far as can be told without looking into assets. */
  has(text: string): boolean
  /** Whether there is data of the reference's kind and instance, whatever its path. */
  knows(ref: VariableRef): boolean
}

/** What there is to read. */
export interface ReadableData {
  session: {
    readonly board: Board
    readonly results: Pick<Results, 'at' | 'count'>
    readonly state: Pick<ConversationState, 'calls'>
  }
  assets: Pick<Assets, 'resolve'>
  /** Whether calls can write among the data. Default true. */
  hasOutputs?: boolean
}

/** A field of a value that is kept as an asset. */
class Kept {
  readonly ref: string
  constructor(value: OffloadedValue, path: readonly FieldKey[]) {
    this.ref = offloadedField(value, path)
  }
}

/**
 * Reads for a call: its instance first, then the global data (spec D7); results by their numbers (R12); through the
 * references of values that are kept as assets (X7).
 *
 * @param own Names of its own, such as `item` and `index`.
 */
export function createDataReader(
  { session, assets, hasOutputs = true }: ReadableData,
  { id, instance }: Pick<CallPlan, 'id' | 'instance'>,
  own: Readonly<Record<string, unknown>> = {},
): DataReader {
  const { board } = session
  const isOwn = (ref: VariableRef): boolean =>
    ref.instance === undefined && Object.hasOwn(own, ref.kind)

  function find(ref: VariableRef): unknown {
    if (isOwn(ref)) return stepInto(own[ref.kind], ref.path)
    if (ref.kind === RESULT) return stepInto(resultOf(ref), ref.path)
    for (const place of placesOf(ref)) {
      const found = onBoard(place)
      if (found !== MISSING) return found
    }
    return MISSING
  }

  function placesOf(ref: VariableRef): VariableRef[] {
    return ref.instance === undefined && instance !== undefined
      ? [{ ...ref, instance }, ref]
      : [ref]
  }

  function onBoard({ kind, instance, path }: VariableRef): unknown {
    const at = (keys: readonly FieldKey[]): unknown => {
      const text = formatVariable({ kind, instance }, keys)
      return board.has(text) ? board.read(text) : MISSING
    }
    const found = at(path)
    if (found !== MISSING && !OFFLOADED_KEYS.has(path.at(-1))) {
      return isOffloaded(found) ? new Kept(found, []) : found
    }
    // What is kept as an asset may stand anywhere above.
    for (let depth = 0; depth < path.length; depth++) {
      const above = path.slice(0, depth)
      const value = at([...above, 'offloaded']) === true ? at(above) : null
      if (isOffloaded(value)) return new Kept(value, path.slice(depth))
    }
    return found
  }

  function resultOf({ instance: name }: VariableRef): unknown {
    const { results, state } = session
    const result = results.at(Number(name))
    if (!result) {
      const there = results.count > 0 ? `†result#1 to ${resultName(results.count)}` : 'none yet'
      const how = hasOutputs
        ? ' What a call of the same answer shall read is written by _outputPath.'
        : ''
      throw new VariableError(`†result#${name ?? ''} names no result; there are ${there}.${how}`)
    }
    const answer = state.calls[id]?.parentMessageId
    if (answer === undefined || state.calls[result.callId]?.parentMessageId !== answer) {
      return result.value
    }
    throw new VariableError(
      `†result#${name} is a result of this same answer, which has no number until the answer has ended: write it by _outputPath and read it there, or call again.`,
    )
  }

  async function settle(expression: VariableExpression): Promise<unknown> {
    if (expression.type === 'variable') {
      const found = find(expression)
      return found instanceof Kept ? assets.resolve(found.ref) : found
    }
    let last: unknown = MISSING
    for (const one of expression.of) {
      last = await settle(one).catch(asMissing)
      if ((last === MISSING) === (expression.type === 'all')) return last
    }
    return last
  }

  /** Why a reference has no value. Always throws. */
  function explain(ref: VariableRef): never {
    if (isOwn(ref)) throw new VariableError(missingIn(`†${ref.kind}`, own[ref.kind], ref.path))
    if (ref.kind === RESULT) {
      const name = formatVariable(ref, [])
      throw new VariableError(missingIn(name, resultOf(ref), ref.path))
    }
    board.read(formatVariableRef(ref), { instance })
    throw new VariableError(`${formatVariableRef(ref)} has no value.`)
  }

  function orExplain(value: unknown, expression: VariableExpression): unknown {
    if (value !== MISSING) return value
    const reasons = variablesIn(expression).map((ref) => {
      try {
        return explain(ref)
      } catch (error) {
        return errorMessage(error)
      }
    })
    throw new VariableError(reasons.join(' '))
  }

  return {
    read(text) {
      const expression = parseVariableRef(text)
      if (!expression) return board.read(text)
      let isKept = false
      const isCompound = expression.type !== 'variable'
      const value = evaluateVariable(expression, (ref) => {
        const found = isCompound ? orMissing(() => find(ref)) : find(ref)
        isKept ||= found instanceof Kept
        return found
      })
      if (!isKept) return orExplain(value, expression)
      return settle(expression).then((settled) => orExplain(settled, expression))
    },
    has(text) {
      const expression = parseVariableRef(text)
      if (!expression) return false
      return evaluateVariable(expression, (ref) => orMissing(() => find(ref))) !== MISSING
    },
    knows(ref) {
      if (isOwn(ref)) return true
      if (ref.kind === RESULT) return session.results.at(Number(ref.instance)) !== null
      return placesOf(ref).some((place) => board.has(formatVariable(place, [])))
    },
  }
}

/** The value at a path, as far as it is here; MISSING where there is none. */
function stepInto(root: unknown, path: readonly FieldKey[]): unknown {
  let value = root
  for (const [depth, key] of path.entries()) {
    if (isOffloaded(value)) return new Kept(value, path.slice(depth))
    value = ownField(value, key)
    if (value === MISSING) return MISSING
  }
  return isOffloaded(value) ? new Kept(value, []) : value
}

function missingIn(name: string, root: unknown, path: readonly FieldKey[]): string {
  let value = root
  for (const [depth, key] of path.entries()) {
    const next = ownField(value, key)
    if (next === MISSING) {
      const label = [name, ...path.slice(0, depth).map((one) => `[${JSON.stringify(one)}]`)]
      return explainMissing(label.join(''), value, key)
    }
    value = next
  }
  return `${name} has no value.`
}

function asMissing(error: unknown): typeof MISSING {
  if (error instanceof ByrefError) return MISSING
  throw error
}

function orMissing(find: () => unknown): unknown {
  try {
    return find()
  } catch (error) {
    return asMissing(error)
  }
}
