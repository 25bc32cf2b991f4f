import { type OutputTarget, parseOutputPath } from '../content/output-path.ts'
import { variablesIn } from '../refs/evaluate-variable.ts'
import type { FieldKey } from '../refs/field-path.ts'
import { parseVariableRef } from '../refs/variable-ref.ts'
import type { ModelCall } from './read-response.ts'
import type { Tool } from './tool.ts'

/** A place among the data: a value and everything below it. */
export interface DataTarget {
  kind: string
  path: readonly FieldKey[]
}

/** The instance that a call works on: it reads that one first, then the global one, and writes to it (spec D7). */
export function instanceOf({ _instance }: Record<string, unknown>): string | undefined {
  return typeof _instance === 'string' && _instance !== '' ? _instance : undefined
}

/**
 * Where a call's result is to be written: alternatives (`||`) of targets that are all written (`&&`), by the tool's own
 * path or else by the call's `_outputPath`, in the call's `_instance` unless the path names one. Empty where it is
 * written nowhere.
 *
 * @throws ByrefError `invalid_reference` for a path that names nothing
 */
export function outputAlternatives(call: ModelCall, tool: Tool | undefined): OutputTarget[][] {
  const fixed = tool?.outputPath ?? true
  if (fixed === false) return []
  const path = typeof fixed === 'string' ? fixed : call.arguments._outputPath
  if (path === undefined || path === null || path === '') return []
  const instance = instanceOf(call.arguments)
  return parseOutputPath(String(path)).map((targets) => {
    return targets.map((target) => (instance === undefined ? target : { instance, ...target }))
  })
}

/** Every place that a call may write; none for a path that cannot be read, which is the call's own error later. */
export function outputTargets(call: ModelCall, tools: readonly Tool[]): DataTarget[] {
  try {
    return outputAlternatives(
      call,
      tools.find(({ id }) => id === call.name),
    ).flat()
  } catch {
    return []
  }
}

/** Every place that the `†` references in a call's arguments read. */
export function variableTargets(args: Record<string, unknown>): DataTarget[] {
  const found: DataTarget[] = []
  const waiting: unknown[] = Object.entries(args).flatMap(([key, value]) => {
    return key === '_outputPath' ? [] : [value]
  })
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value === 'string') {
      const expression = parseVariableRef(value)
      if (expression) found.push(...variablesIn(expression))
    } else if (typeof value === 'object' && value !== null) waiting.push(...Object.values(value))
  }
  return found
}

/** Whether a place that is read is, holds, or lies in one that is written. */
export function overlaps(reads: readonly DataTarget[], writes: readonly DataTarget[]): boolean {
  return reads.some((read) => {
    return writes.some((write) => {
      const shared = Math.min(read.path.length, write.path.length)
      const same = read.path
        .slice(0, shared)
        .every((key, i) => String(key) === String(write.path[i]))
      return read.kind === write.kind && same
    })
  })
}
