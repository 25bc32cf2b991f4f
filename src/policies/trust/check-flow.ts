import type { Read } from '../../boundary/resolve.ts'
import { jsonSchemaOf, type Tool } from '../../boundary/tool.ts'
import { type Alternatives, schemaWalk } from '../../core/board/schema-walk.ts'
import { defined } from '../../core/defined.ts'
import type { EventOf, FlowViolation } from '../../core/events/events.ts'
import { isPlainObject } from '../../core/json/json.ts'
import {
  type Clearance,
  type FlowRule,
  isClearance,
  join,
  type Label,
  violatedRules,
  writeLabel,
} from '../../core/labels/label.ts'
import { type LabelTree, treeAt, wholeOf } from '../../core/labels/label-tree.ts'
import { oncePer } from '../../core/once-resolved.ts'
import { type FieldKey, toPointer } from '../../core/refs/field-key.ts'

/** The schema keyword for the labels that a parameter accepts. */
export const ACCEPTS = 'x-accepts'

/** What a tool that acts accepts. */
const ACTS: Clearance = { integrity: 'trusted', confidentiality: 'public' }

/** What a read-only tool accepts if others may see its input, such as the query of a web search. */
const REACHES_OUT: Clearance = { confidentiality: 'public' }

/** Returns what a tool accepts at parameters without a declaration. */
export function clearanceOf({
  accepts = {},
  readOnly,
  openWorld,
}: Pick<Tool, 'accepts' | 'readOnly' | 'openWorld'>): Clearance {
  const declared = defined(accepts)
  if (!readOnly) return { ...ACTS, ...declared }
  return openWorld === false ? declared : { ...REACHES_OUT, ...declared }
}

/** Whether calls of a tool must be checked before they start. */
export function isGuarded(tool: Tool): boolean {
  const { integrity, confidentiality, readers } = clearanceOf(tool)
  const isOpen = integrity !== 'trusted' && confidentiality !== 'public' && !readers
  return !isOpen || hasAccepts(tool)
}

/** The labels of what a call receives. */
export interface GivenLabels {
  /**
   * The label of what the model had seen when it wrote the call. It applies to everything that the model wrote
   * itself.
   */
  context: Label
  reads: readonly Read[]
}

/**
 * Returns the violations of a call. It checks three things: what the model had seen, because that determined the call;
 * each value that the call reads, field by field, against the nearest parameter with a declaration; and what the model
 * wrote itself at each of these parameters.
 *
 * @param args The arguments with the values of their variables.
 */
export function violationsOf(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  { context, reads }: GivenLabels,
): FlowViolation[] {
  const base = clearanceOf(tool)
  const places = hasAccepts(tool) ? placesIn(tool, args) : []
  const found: FlowViolation[] = []
  const note = (
    rules: readonly FlowRule[],
    path: readonly FieldKey[],
    label: Label,
    ref?: string,
  ) => {
    for (const rule of rules) {
      const about = defined({ rule, path: toPointer(path), ref })
      found.push({ ...about, label: writeLabel(label) })
    }
  }
  note(violatedRules(base, context), [], context)
  for (const { path, ref, labels } of reads) {
    const around = places.findLast((place) => isBelow(path, place.path))
    const inside = places.filter((place) => place !== around && isBelow(place.path, path))
    const steps = inside.map((place) => place.path.slice(path.length))
    const rest = labelBeside(labels, steps)
    note(violatedRules(around?.accepts ?? base, rest), path, rest, ref)
    for (const place of inside) {
      const deeper = inside.filter((one) => one !== place && isBelow(one.path, place.path))
      const tree = treeAt(labels, place.path.slice(path.length))
      const label = labelBeside(
        tree,
        deeper.map((one) => one.path.slice(place.path.length)),
      )
      note(violatedRules(place.accepts, label), place.path, label, ref)
    }
  }
  const values = found.filter(({ ref }) => ref !== undefined)
  for (const { path, accepts } of places) {
    const pointer = toPointer(path)
    const isKnown = (rule: FlowRule): boolean =>
      values.some((one) => one.rule === rule && `${one.path}/`.startsWith(`${pointer}/`))
    note(
      violatedRules(accepts, context).filter((rule) => !isKnown(rule)),
      path,
      context,
    )
  }
  return found
}

/** Returns the label of a value without the parts at some paths, which are checked separately. */
function labelBeside(tree: LabelTree, paths: readonly (readonly FieldKey[])[]): Label {
  if (paths.length === 0) return wholeOf(tree)
  let label = tree.label
  for (const [key, field] of Object.entries(tree.fields ?? {})) {
    const hits = paths.filter(([first]) => matches(tree, key, String(first)))
    if (hits.length === 0) label = join(label, wholeOf(field))
    for (const below of Map.groupBy(hits, ([first]) => String(first)).values()) {
      const rests = below.map(([, ...rest]) => rest)
      const isWhole = rests.some((rest) => rest.length === 0)
      if (!isWhole) label = join(label, labelBeside(field, rests))
    }
  }
  return label
}

/** Whether the labels of a key apply to a field. `*` applies to all fields that are not listed. */
function matches({ fields = {} }: LabelTree, key: string, name: string): boolean {
  return key === name || (key === '*' && !Object.hasOwn(fields, name))
}

/** Returns why a call waits, for a person who may see its references: the reason of a policy, then the violations. */
export function approvalReasons({
  reason,
  violations = [],
}: Pick<EventOf<'APPROVAL_REQUESTED'>, 'reason' | 'violations'>): string[] {
  const refs = new Set(violations.flatMap(({ ref }) => ref ?? []))
  return [...(reason === undefined ? [] : [reason]), ...violationTexts(violations, refs)]
}

/**
 * Describes violations, each wording once. The texts contain no values, and no references or paths from values.
 *
 * @param written The references that may be named, such as those that the model wrote.
 */
export function violationTexts(
  violations: readonly FlowViolation[],
  written: ReadonlySet<string>,
): string[] {
  return [...new Set(violations.map((one) => violationText(one, written)))]
}

function violationText({ rule, path, ref }: FlowViolation, written: ReadonlySet<string>): string {
  if (ref !== undefined && !written.has(ref))
    return `a value behind a reference in its arguments ${WHY[rule]}`
  if (ref !== undefined) return `${ref} at ${path} ${WHY[rule]}`
  // Only the first key is shown, because the others may come from a value.
  const parameter = path.split('/').slice(0, 2).join('/')
  const subject =
    path === '' ? "the model's decision to make this call" : `the value at ${parameter}`
  return `${subject} ${WHY[rule]}`
}

const WHY: Readonly<Record<FlowRule, string>> = {
  integrity: 'is untrusted, and this tool accepts only trusted values',
  confidentiality: 'is private, and this tool may disclose it',
  readers: 'is private, and this tool could show it to somebody who may not read it',
}

interface Place {
  path: readonly FieldKey[]
  accepts: Clearance
}

const hasAccepts = oncePer((tool: Tool) =>
  JSON.stringify(jsonSchemaOf(tool)).includes(`"${ACCEPTS}":`),
)

/** Returns the places in the arguments that declare what they accept, outer ones first. */
function placesIn(tool: Tool, args: Readonly<Record<string, unknown>>): Place[] {
  const walk = schemaWalk(jsonSchemaOf(tool))
  const base = clearanceOf(tool)
  const places: Place[] = []
  const queue = [{ value: args as unknown, path: [] as FieldKey[], alternatives: walk.root }]
  for (let next = queue.shift(); next; next = queue.shift()) {
    const { value, path, alternatives } = next
    // A branch without a declaration accepts what the tool accepts.
    const isDeclared = alternatives.some((schema) => schema[ACCEPTS] !== undefined)
    const found = alternatives.map((schema) => schema[ACCEPTS] ?? {})
    if (isDeclared) places.push({ path, accepts: narrowest(found.map(clearanceIn(base))) })
    // The content of an asset will replace this value. A declaration of any part of it applies to all of it.
    const inside = isReference(value) ? declaredBelow(alternatives, tool) : []
    if (inside.length > 0)
      places.push({ path, accepts: narrowest([...found, ...inside].map(clearanceIn(base))) })
    if (typeof value !== 'object' || value === null) continue
    const entryOf = walk.entries(alternatives, value)
    for (const [name, item] of Object.entries(value)) {
      const key = Array.isArray(value) ? Number(name) : name
      const below = entryOf(key)
      // Values that no schema describes are not places.
      if (below.length > 0) queue.push({ value: item, path: [...path, key], alternatives: below })
    }
  }
  return places
}

function isReference(value: unknown): boolean {
  if (typeof value === 'string') return /asset:/i.test(value)
  return isPlainObject(value) && ('asset_id' in value || 'assetRef' in value)
}

/**
 * Returns the declarations below a value, at any depth. If a schema refers to a definition, returns all declarations of
 * the tool.
 */
function declaredBelow(alternatives: Alternatives, tool: Tool): unknown[] {
  const found: unknown[] = []
  const stack: unknown[] = alternatives.flatMap(({ [ACCEPTS]: _, ...schema }) => [schema])
  for (let part = stack.pop(); part !== undefined; part = stack.pop()) {
    if (typeof part !== 'object' || part === null) continue
    const { [ACCEPTS]: accepts, $ref, ...rest } = part as Record<string, unknown>
    if (accepts !== undefined) found.push(accepts)
    if ($ref !== undefined) return allDeclared(jsonSchemaOf(tool))
    stack.push(...Object.values(rest).filter((item) => item !== undefined))
  }
  return found
}

function allDeclared(schema: unknown): unknown[] {
  if (typeof schema !== 'object' || schema === null) return []
  const declared = Object.hasOwn(schema, ACCEPTS) ? [Reflect.get(schema, ACCEPTS)] : []
  return [...declared, ...Object.values(schema).flatMap(allDeclared)]
}

/**
 * Returns a function that converts a declaration to what the parameter accepts. Keys that it does not declare come from
 * its tool. For an invalid declaration, the parameter accepts only trusted, public values.
 */
function clearanceIn(base: Clearance): (declared: unknown) => Clearance {
  return (declared) => (isClearance(declared) ? { ...base, ...defined(declared) } : ACTS)
}

/** Returns what every one of the clearances accepts. */
function narrowest(clearances: readonly Clearance[]): Clearance {
  return clearances.reduce((a, b) => {
    const integrity = a.integrity === 'trusted' ? 'trusted' : b.integrity
    if (isPublicOnly(a) || isPublicOnly(b)) return { integrity, confidentiality: 'public' }
    const readers =
      a.readers || b.readers ? [...(a.readers ?? []), ...(b.readers ?? [])] : undefined
    return { integrity, readers }
  })
}

/** Whether a clearance accepts no private values. Named readers make an exception for values that they may read. */
function isPublicOnly({ confidentiality, readers }: Clearance): boolean {
  return confidentiality === 'public' && !readers
}

function isBelow(path: readonly FieldKey[], above: readonly FieldKey[]): boolean {
  return above.every((key, i) => String(key) === String(path[i]))
}
