import { type FieldKey, MISSING, ownField } from '../refs/field-path.ts'

/** A field, or what has no such field: the step that leads nowhere, and the container that it starts from. */
export type FoundField =
  | { isFound: true; value: unknown }
  | { isFound: false; container: unknown; depth: number }

/** The field at a path in a value. */
export function fieldAt(value: unknown, path: readonly FieldKey[]): FoundField {
  let container = value
  for (const [depth, step] of path.entries()) {
    const next = ownField(container, step)
    if (next === MISSING) return { isFound: false, container, depth }
    container = next
  }
  return { isFound: true, value: container }
}
