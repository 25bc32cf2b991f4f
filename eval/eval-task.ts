import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { defineTool, type Tool } from '../src/boundary/tool.ts'
import type { Random } from './random.ts'

/** How a task is done: values inline in the prompt and written out in calls, or passed by reference. */
export type Mode = 'value' | 'reference'

/** The modes, in the order in which reports show them. */
export const MODES: readonly Mode[] = ['value', 'reference']

/** The topic of a task. Reports have a line for each group. */
export type Group = 'pass' | 'connect' | 'read' | 'recover' | 'restrain' | 'trust'

/** A task of the evaluation. */
export interface EvalTask {
  /** Lower-case words with hyphens. Unique. */
  name: string
  group: Group
  /** What the model must do, in one line. */
  about: string
  /** Makes one instance. The same seed makes the same instance. */
  create(random: Random): TaskInstance
}

/** Data of a conversation, by kind, or by `kind#instance`. */
export type EvalData = Record<string, unknown>

/** One instance of a task, with its own data. */
export interface TaskInstance {
  /** The instructions. Default: one sentence, the same for all tasks. */
  instructions?: string
  /**
   * Returns the tools, the same in both modes. By value, `data` is the data of the conversation, which tools may change
   * where byref would write to it.
   */
  tools(mode: Mode, data: EvalData): readonly Tool[]
  /** The user's messages. Each starts a run. */
  says: readonly string[] | ((by: Choose) => readonly string[])
  /** Data that the conversation starts with, by kind. */
  data?: EvalData
  /** Text files that are attached to the first message. CSV files become tables. */
  files?: readonly { name: string; text: string }[]
  /** The trust mode by reference. By value, trust is off. */
  trust?: 'quarantine'
  /** The person's answer to a question about a call. Default: denied. */
  approve?(name: string): { approved: boolean; reason?: string }
  /** Returns null if the task was done, or else the reason. */
  score(outcome: Outcome): string | null
  /** Returns the answers of a perfect model. They give the estimate, and test the score. */
  ideal(by: Choose): readonly IdealTurn[]
}

/** A choice between texts by reference and by value. */
export type Choose = <Reference, Value>(reference: Reference, value: Value) => Reference | Value

/** Returns the choice of a mode. */
export function choose(mode: Mode): Choose {
  return (reference, value) => (mode === 'reference' ? reference : value)
}

/** An answer of a perfect model: text, calls, or a function of the prompt as JSON. */
export type IdealTurn = string | readonly IdealCall[] | ((seen: string) => readonly IdealCall[])

/** A call of a perfect model. */
export interface IdealCall {
  name: string
  arguments: Record<string, unknown>
}

/** A call that a tool received, with all references replaced. */
export interface ReceivedCall {
  name: string
  input: unknown
}

/** A call as the model wrote it. */
export interface WrittenCall {
  name: string
  arguments: Record<string, unknown>
  /** The error that the model got; null if the call succeeded. */
  error: string | null
}

/** What happened in one run of a task. */
export interface Outcome {
  received: readonly ReceivedCall[]
  written: readonly WrittenCall[]
  /** The data at the end. */
  data: EvalData
  /** The last answer. */
  answer: string
}

/** Gives tasks their group. */
export function inGroup(group: Group, tasks: readonly Omit<EvalTask, 'group'>[]): EvalTask[] {
  return tasks.map((task) => ({ ...task, group }))
}

type ToolOption = 'outputPath' | 'outputSchema' | 'idempotent' | 'needsApproval'

/** Defines a tool of a task. `shape` is its parameters in zod. */
export function evalTool<Shape extends z.ZodRawShape>(
  id: string,
  description: string,
  shape: Shape,
  execute: (input: z.infer<z.ZodObject<Shape>>) => unknown,
  rest: Pick<Tool, ToolOption | 'readOnly' | 'accepts'> = {},
): Tool {
  return defineTool({ id, description, inputSchema: z.object(shape), execute, ...rest }) as Tool
}

/** A parameter that takes rows, also by reference. */
export const rowsParameter = z
  .array(z.record(z.string(), z.unknown()))
  .meta({ asset_ref_acceptable: true })

/** A parameter that takes a text, also by reference. */
export const textParameter = z.string().meta({ asset_ref_acceptable: true })

/** Returns a call of a perfect model. */
export function call(name: string, args: Record<string, unknown> = {}): IdealCall {
  return { name, arguments: args }
}

/** Returns the id of the n-th asset (from 0) that a prompt describes or attaches. */
export function assetIn(seen: string, index = 0): string {
  const ids = [...seen.matchAll(/asset_id\\*"?[=:] ?\\*"([\w-]+)/g)].map(([, id]) => id)
  return `asset://${[...new Set(ids)][index]}`
}

/** Checks that a tool received exactly these inputs, in any order. Returns the reason if not. */
export function receivedOnly(
  { received, written }: Outcome,
  tool: string,
  ...expected: readonly unknown[]
): string | null {
  const inputs = received.filter(({ name }) => name === tool).map(({ input }) => input)
  const missing = [...inputs]
  for (const one of expected) {
    const at = missing.findIndex((input) => isDeepStrictEqual(input, one))
    if (at < 0) {
      const errors = written.flatMap(({ name, error }) => (name === tool && error ? [error] : []))
      const last = inputs.length > 0 ? shorten(JSON.stringify(inputs.at(-1))) : null
      const got = last ?? (errors.length > 0 ? `an error: ${shorten(errors.at(-1))}` : 'no call')
      return `${tool} should have received ${shorten(JSON.stringify(one))} and got ${got}`
    }
    missing.splice(at, 1)
  }
  if (missing.length === 0) return null
  return `${tool} was called ${inputs.length} times instead of ${expected.length}`
}

/** Checks that the model never called a tool, not even with invalid arguments. */
export function neverCalled({ written }: Outcome, ...tools: readonly string[]): string | null {
  const called = written.find(({ name }) => tools.includes(name))
  return called ? `${called.name} was called` : null
}

/** Checks that the answer contains a text, without regard to letter case. */
export function answerHas({ answer }: Outcome, text: string): string | null {
  if (answer.toLowerCase().includes(text.toLowerCase())) return null
  return `The answer does not contain "${text}": ${shorten(answer)}`
}

/** Checks that the answer contains a number, with or without separators of thousands. */
export function answerHasNumber({ answer }: Outcome, number: number): string | null {
  const plain = answer.replace(/(?<=\d)[,\u00a0\u202f ](?=\d{3}(?!\d))/g, '')
  const numbers = plain.match(/-?\d+(\.\d+)?/g) ?? []
  if (numbers.some((one) => Number(one) === number)) return null
  return `The answer does not contain the number ${number}: ${shorten(answer)}`
}

function shorten(text = ''): string {
  return text.length > 160 ? `${text.slice(0, 159)}…` : text
}
