import type { Assets } from '../assets/assets-contract.ts'
import { type Board, createBoard } from '../core/board/board.ts'
import { offloadedAbove } from '../core/board/offloaded-above.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import type { ConversationState } from '../core/events/conversation-state.ts'
import { joinAll, readLabel, TRUSTED, UNKNOWN } from '../core/labels/label.ts'
import { joinLabel, type LabelTree, treeAt, wholeOf } from '../core/labels/label-tree.ts'
import type { Labels } from '../core/labels/labels.ts'
import {
  isOffloaded,
  OFFLOADED_KEYS,
  type OffloadedValue,
  offloadedField,
} from '../core/messages/offloaded.ts'
import {
  RESULT,
  type Result,
  type Results,
  resultName,
  resultNumber,
} from '../core/messages/results.ts'
import { type AssetRefParts, formatAssetRef, parseAssetRef } from '../core/refs/asset-ref.ts'
import { explainMissing, type FieldKey, MISSING, ownField } from '../core/refs/field-path.ts'
import {
  evaluateVariable,
  formatVariable,
  formatVariableRef,
  parseVariableRef,
  VariableError,
  type VariableExpression,
  type VariableRef,
  variablesIn,
} from '../core/refs/variable-ref.ts'

/** A value with its labels. */
export interface Found {
  value: unknown
  /** The labels of the value and its fields. Absent if values have no labels. */
  labels?: LabelTree
}

/** The source of the values of a call's references. */
export interface ValueSource {
  /**
   * Reads a `†` expression. Returns a promise if the value is stored as an asset.
   *
   * @param as `ref`: for a value that is stored as an asset, return its reference instead. Default: `value`.
   *
   * @throws VariableError if there is no value; ByrefError `invalid_reference` for text that is not a reference
   */
  read(variable: string, as?: 'value' | 'ref'): Found | Promise<Found>
  /** Whether `read` would find a value now. Assets are not read. */
  has(variable: string): boolean
  /** Whether there is data of the reference's kind and instance, at any path. */
  knows(ref: VariableRef): boolean
  /** Returns the labels of an asset reference. Absent if values have no labels. */
  labelsOf?(ref: AssetRefParts): LabelTree | Promise<LabelTree>
}

/** Looks up labels for a conversation source. */
export interface SourceLabels {
  /** Returns the labels of a variable, in its instance and globally. */
  variable(ref: VariableRef, instance?: string): LabelTree
  /** Returns the labels of an asset reference. */
  asset(ref: AssetRefParts): LabelTree | Promise<LabelTree>
}

/**
 * Returns the labels of a conversation. An asset that the conversation does not know has the label of its record,
 * or else the strictest label.
 */
export function sourceLabels(labels: Labels, assets: Pick<Assets, 'info'>): SourceLabels {
  return {
    variable: (ref, instance) => labels.variableTree(ref, instance),
    asset: (ref) => labels.assetTree(ref) ?? recordLabels(ref, assets),
  }
}

async function recordLabels(ref: AssetRefParts, assets: Pick<Assets, 'info'>): Promise<LabelTree> {
  try {
    const { label } = await assets.info(formatAssetRef({ ...ref, fieldPath: [] }))
    return { label: label === undefined ? UNKNOWN : readLabel(label) }
  } catch {
    // Ignore the failure: reading the asset reports it.
    return { label: UNKNOWN }
  }
}

/** Options of {@link ConversationSource}. */
export interface ReadableConversation {
  board: Board
  results: Pick<Results, 'at' | 'count'>
  /** The calls by id, because results of the current answer have no numbers yet. Default: none. */
  calls?: ConversationState['calls']
  assets: Pick<Assets, 'resolve'>
  /** Whether calls can write to the board with `_outputPath`. Default: true. */
  hasOutputs?: boolean
  /** Null or absent if values have no labels. */
  labels?: SourceLabels | null
}

/** The call that reads a value. */
export interface ReadingCall {
  id: string
  /** The instance that it reads first, before the global data. */
  instance?: string
  /** Variables of this call only, such as `item` and `index` in a mapped call. */
  local?: Readonly<Record<string, Found>>
}

/** A field of a value that is stored as an asset. */
class OffloadedField {
  readonly ref: string
  constructor(value: OffloadedValue, path: readonly FieldKey[]) {
    this.ref = offloadedField(value, path)
  }
}

/**
 * Reads the values of one conversation for one call. Data of the call's instance comes before global data. Results are
 * read by their number, and values that are stored as assets through their references.
 */
export class ConversationSource implements ValueSource {
  readonly labelsOf?: NonNullable<ValueSource['labelsOf']>
  readonly #from: ReadableConversation
  readonly #call: ReadingCall

  constructor(from: ReadableConversation, call: ReadingCall) {
    this.#from = from
    this.#call = call
    const { labels } = from
    if (labels) this.labelsOf = (ref) => labels.asset(ref)
  }

  read(variable: string, as: 'value' | 'ref' = 'value'): Found | Promise<Found> {
    const expression = parseVariableRef(variable)
    // For text that is not a reference, the board throws the error.
    if (!expression) return { value: this.#from.board.read(variable) }
    const offloaded: OffloadedField[] = []
    const isCompound = expression.type !== 'variable'
    const value = evaluateVariable(expression, (ref) => {
      const found = isCompound ? orMissing(() => this.#find(ref)) : this.#find(ref)
      if (found instanceof OffloadedField) offloaded.push(found)
      return found
    })
    const [first] = offloaded
    if (first && as === 'ref' && !isCompound) return this.#refOf(expression, first)
    if (first) return this.#readOffloaded(expression, offloaded)
    return this.#labelled(this.#orExplain(value, expression), expression)
  }

  has(variable: string): boolean {
    const expression = parseVariableRef(variable)
    if (!expression) return false
    return evaluateVariable(expression, (ref) => orMissing(() => this.#find(ref))) !== MISSING
  }

  knows(ref: VariableRef): boolean {
    if (this.#localOf(ref)) return true
    const { results, board } = this.#from
    if (ref.kind === RESULT) return results.at(resultNumber(ref)) !== null
    return this.#places(ref).some((place) => board.has(formatVariable(place, [])))
  }

  /** Joins the labels of every reference in the expression, because all of them determine which value is read. */
  #labelled(value: unknown, expression: VariableExpression): Found {
    if (!this.#from.labels) return { value }
    const trees = variablesIn(expression).map((ref) => this.#labelsAt(ref))
    const [first, ...others] = trees as [LabelTree, ...LabelTree[]]
    const labels = others.length === 0 ? first : { label: joinAll(trees.map(wholeOf)) }
    return { value, labels }
  }

  #labelsAt(ref: VariableRef): LabelTree {
    const local = this.#localOf(ref)
    if (local) return treeAt(local.labels ?? NO_LABELS, ref.path)
    return this.#from.labels?.variable(ref, this.#call.instance) ?? NO_LABELS
  }

  async #refOf(expression: VariableExpression, field: OffloadedField): Promise<Found> {
    const labels = await this.#offloadedLabels(expression, [field])
    return { value: field.ref, labels }
  }

  async #readOffloaded(
    expression: VariableExpression,
    offloaded: readonly OffloadedField[],
  ): Promise<Found> {
    const labels = await this.#offloadedLabels(expression, offloaded)
    try {
      return { value: this.#orExplain(await this.#resolve(expression), expression), labels }
    } catch (error) {
      // The error may quote keys of every value on the path.
      throw withLabels(error, await this.#offloadedLabels(rootsOf(expression), offloaded, []))
    }
  }

  /**
   * Returns the labels of the references, and of the content of the assets that they lead to.
   *
   * @param at The path in the assets. Default: the path of the references.
   */
  async #offloadedLabels(
    expression: VariableExpression,
    offloaded: readonly OffloadedField[],
    at?: readonly FieldKey[],
  ): Promise<LabelTree | undefined> {
    const { labels } = this.#from
    if (!labels) return undefined
    const reference = joinAll(variablesIn(expression).map((ref) => wholeOf(this.#labelsAt(ref))))
    const contents = await Promise.all(
      offloaded.map(({ ref }) => {
        const parts = parseAssetRef(ref) as AssetRefParts
        return labels.asset({ ...parts, fieldPath: at ? [...at] : parts.fieldPath })
      }),
    )
    const [content] = contents
    if (content && expression.type === 'variable') return joinLabel(content, reference)
    return { label: joinAll([reference, ...contents.map(wholeOf)]) }
  }

  #localOf({ kind, instance }: VariableRef): Found | undefined {
    const { local = {} } = this.#call
    return instance === undefined && Object.hasOwn(local, kind) ? local[kind] : undefined
  }

  #find(ref: VariableRef): unknown {
    const local = this.#localOf(ref)
    if (local) return stepInto(local.value, ref.path)
    if (ref.kind === RESULT) return stepInto(this.#resultOf(ref), ref.path)
    for (const place of this.#places(ref)) {
      const found = this.#onBoard(place)
      if (found !== MISSING) return found
    }
    return MISSING
  }

  #places(ref: VariableRef): VariableRef[] {
    const { instance } = this.#call
    return ref.instance === undefined && instance !== undefined
      ? [{ ...ref, instance }, ref]
      : [ref]
  }

  #onBoard({ kind, instance, path }: VariableRef): unknown {
    const { board } = this.#from
    const name = formatVariable({ kind, instance }, path)
    const found = board.has(name) ? board.read(name) : MISSING
    if (found !== MISSING && !OFFLOADED_KEYS.has(path.at(-1))) {
      return isOffloaded(found) ? new OffloadedField(found, []) : found
    }
    const above = offloadedAbove(board, { kind, instance, path })
    return above ? new OffloadedField(above.value, path.slice(above.path.length)) : found
  }

  #resultOf(ref: VariableRef): unknown {
    const { results, calls = {}, hasOutputs = true } = this.#from
    const { instance: name } = ref
    const result = results.at(resultNumber(ref))
    if (!result) {
      const last = resultName(results.count)
      const range = results.count > 1 ? `†result#1 to ${last}` : last
      const available = results.count > 0 ? range : 'none yet'
      const hint = hasOutputs
        ? ' To use a result in another call of the same answer, write it with _outputPath first.'
        : ''
      const problem =
        name === undefined ? '†result has no number' : `There is no result †result#${name}`
      throw new VariableError(`${problem}. Results: ${available}.${hint}`)
    }
    const answer = calls[this.#call.id]?.parentMessageId
    if (answer === undefined || calls[result.callId]?.parentMessageId !== answer) {
      return result.value
    }
    throw new VariableError(
      `†result#${name} is a result of this same answer, and cannot be read by its number yet. Write it with _outputPath and read it there, or call again in your next answer.`,
    )
  }

  /** Evaluates an expression, and reads the assets that its references lead to. */
  async #resolve(expression: VariableExpression): Promise<unknown> {
    if (expression.type === 'variable') {
      const found = this.#find(expression)
      return found instanceof OffloadedField ? this.#from.assets.resolve(found.ref) : found
    }
    let last: unknown = MISSING
    for (const operand of expression.of) {
      last = await this.#resolve(operand).catch(asMissing)
      if ((last === MISSING) === (expression.type === 'all')) return last
    }
    return last
  }

  /** Returns why a reference has no value. */
  #explain(ref: VariableRef): string {
    const local = this.#localOf(ref)
    if (local) return missingIn(`†${ref.kind}`, local.value, ref.path)
    try {
      if (ref.kind === RESULT)
        return missingIn(formatVariable(ref, []), this.#resultOf(ref), ref.path)
      this.#from.board.read(formatVariableRef(ref), { instance: this.#call.instance })
      return `${formatVariableRef(ref)} has no value.`
    } catch (error) {
      return errorMessage(error)
    }
  }

  #orExplain(value: unknown, expression: VariableExpression): unknown {
    if (value !== MISSING) return value
    const reasons = variablesIn(expression).map((ref) => this.#explain(ref))
    const { labels } = this.#labelled(null, rootsOf(expression))
    throw withLabels(new VariableError(reasons.join(' ')), labels)
  }
}

/**
 * Creates a source for a framework that keeps results in a list. `†result#1` is the first result, as
 * `boundary.store` and `boundary.offload` returned it.
 */
export function createResultSource(values: readonly unknown[], assets: Assets): ValueSource {
  const at = (number: number): Result | null =>
    number >= 1 && number <= values.length ? { callId: '', value: values[number - 1] } : null
  const results = {
    get count() {
      return values.length
    },
    at,
  }
  const from = { board: createBoard([]), results, assets, hasOutputs: false }
  return new ConversationSource(from, { id: '' })
}

/** Returns the expression without the paths of its references. */
function rootsOf(expression: VariableExpression): VariableExpression {
  if (expression.type === 'variable') return { ...expression, path: [] }
  return { ...expression, of: expression.of.map(rootsOf) } as VariableExpression
}

/** The labels of the values that an error message may quote. */
const errorLabels = new WeakMap<object, LabelTree>()

/** Returns the labels of the values that an error of a value source may quote. */
export function labelsOfError(error: unknown): LabelTree | undefined {
  return typeof error === 'object' && error !== null ? errorLabels.get(error) : undefined
}

function withLabels(error: unknown, labels: LabelTree | undefined): unknown {
  if (labels && typeof error === 'object' && error !== null) {
    const previous = errorLabels.get(error)
    errorLabels.set(error, previous ? joinLabel(previous, wholeOf(labels)) : labels)
  }
  return error
}

const NO_LABELS: LabelTree = { label: TRUSTED }

/** Returns the value at a path, or an OffloadedField if the path leads into an asset. MISSING if there is none. */
function stepInto(root: unknown, path: readonly FieldKey[]): unknown {
  let value = root
  for (const [depth, key] of path.entries()) {
    if (isOffloaded(value)) return new OffloadedField(value, path.slice(depth))
    value = ownField(value, key)
    if (value === MISSING) return MISSING
  }
  return isOffloaded(value) ? new OffloadedField(value, []) : value
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
