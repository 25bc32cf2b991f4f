import { jsonSchemaOf, type Tool } from '../../boundary/tool.ts'
import { schemaWalk } from '../../core/board/schema-walk.ts'
import type { FlowViolation } from '../../core/events/events.ts'
import {
  type Clearance,
  type FlowRule,
  isClearance,
  join,
  joinAll,
  type Label,
  refusedBy,
  writeLabel,
} from '../../core/labels/label.ts'
import type { FieldKey } from '../../core/refs/field-key.ts'
import { toPointer } from '../../core/refs/json-pointer.ts'
import type { CallLabels } from './call-labels.ts'

/** The keyword by which a parameter's schema says what the parameter takes. */
export const ACCEPTS = 'x-accepts'

/** A tool that only reads takes anything; any other acts, and does not act on what nobody vouches for. */
const ACTS: Clearance = { integrity: 'trusted', confidentiality: 'public' }

/** What a tool takes where its parameters do not say it. */
export function clearanceOf({ accepts, readOnly }: Pick<Tool, 'accepts' | 'readOnly'>): Clearance {
  return { ...(readOnly ? {} : ACTS), ...accepts }
}

/** Whether calls of a tool have to be looked at before they begin. */
export function isGuarded(tool: Tool): boolean {
  const { integrity, confidentiality, readers } = clearanceOf(tool)
  const isOpen = integrity !== 'trusted' && confidentiality !== 'public' && !readers
  return !isOpen || hasAccepts(tool)
}

/**
 * What a tool does not take of a call (spec Q6): of what its model had been shown, since that decided the call; of each
 * reference by the nearest parameter that says what it takes; and of the model's own words, by each of these.
 *
 * @param args The arguments with the values of their variables.
 */
export function violationsOf(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  { context, flows }: CallLabels,
): FlowViolation[] {
  const own = clearanceOf(tool)
  const places = hasAccepts(tool) ? placesIn(tool, args) : []
  const found: FlowViolation[] = []
  const note = (
    rules: readonly FlowRule[],
    path: readonly FieldKey[],
    label: Label,
    ref?: string,
  ) => {
    for (const rule of rules) {
      const about = { rule, path: toPointer(path), ...(ref === undefined ? {} : { ref }) }
      found.push({ ...about, label: writeLabel(label) })
    }
  }
  note(refusedBy(own, context), [], context)
  for (const { path, ref, label } of flows) {
    const nearest = places.findLast((place) => isBelow(path, place.path))
    note(refusedBy(nearest?.accepts ?? own, label), path, label, ref)
  }
  for (const { path, accepts } of places) {
    const below = flows.filter((flow) => isBelow(flow.path, path)).map(({ label }) => label)
    const before = new Set(below.flatMap((label) => refusedBy(accepts, label)))
    const label = join(context, joinAll(below))
    note(
      refusedBy(accepts, label).filter((rule) => !before.has(rule)),
      path,
      label,
    )
  }
  return found
}

/**
 * A violation as a model is told of it: no value, and nothing that somebody else named.
 *
 * @param written The references that the model wrote: others stand in values, and so does where they stand.
 */
export function violationText(
  { rule, path, ref }: FlowViolation,
  written: ReadonlySet<string>,
): string {
  if (ref !== undefined && !written.has(ref))
    return `what a reference in its values names ${WHY[rule]}`
  if (ref !== undefined) return `${ref} at ${path} ${WHY[rule]}`
  // Further keys may be those of a value.
  const parameter = path.split('/').slice(0, 2).join('/')
  return `${path === '' ? 'the call itself' : `what is written at ${parameter}`} ${WHY[rule]}`
}

const WHY: Readonly<Record<FlowRule, string>> = {
  integrity: 'is not trusted, and the tool acts on trusted values only',
  confidentiality: 'is private, and the tool may show it to anybody',
  readers: 'is private, and not all who would read it may',
}

interface Place {
  path: readonly FieldKey[]
  accepts: Clearance
}

const mentions = new WeakMap<Tool, boolean>()

function hasAccepts(tool: Tool): boolean {
  const known = mentions.get(tool) ?? JSON.stringify(jsonSchemaOf(tool)).includes(`"${ACCEPTS}":`)
  mentions.set(tool, known)
  return known
}

/** The places in the arguments that say what they take, outer ones first. */
function placesIn(tool: Tool, args: Readonly<Record<string, unknown>>): Place[] {
  const walk = schemaWalk(jsonSchemaOf(tool))
  const own = clearanceOf(tool)
  const places: Place[] = []
  const waiting = [{ value: args as unknown, path: [] as FieldKey[], alternatives: walk.root }]
  for (let one = waiting.shift(); one; one = waiting.shift()) {
    const { value, path, alternatives } = one
    const said = alternatives.flatMap((schema) => schema[ACCEPTS] ?? [])
    if (said.length > 0) places.push({ path, accepts: narrowest(said.map(clearanceIn(own))) })
    if (typeof value !== 'object' || value === null) continue
    const entryOf = walk.entries(alternatives, value)
    for (const [name, item] of Object.entries(value)) {
      const key = Array.isArray(value) ? Number(name) : name
      const below = entryOf(key)
      // What no schema speaks of has no place of its own below it.
      if (below.length > 0) waiting.push({ value: item, path: [...path, key], alternatives: below })
    }
  }
  return places
}

/** What a parameter takes: of what it does not say, what its tool takes; nothing where it says what cannot be read. */
function clearanceIn(own: Clearance): (said: unknown) => Clearance {
  return (said) => ({ ...own, ...(isClearance(said) ? said : ACTS) })
}

/** What all of them take. */
function narrowest(all: readonly Clearance[]): Clearance {
  return all.reduce((a, b) => ({
    integrity: a.integrity === 'trusted' ? 'trusted' : b.integrity,
    confidentiality: a.confidentiality === 'public' ? 'public' : b.confidentiality,
    readers: a.readers || b.readers ? [...(a.readers ?? []), ...(b.readers ?? [])] : undefined,
  }))
}

function isBelow(path: readonly FieldKey[], above: readonly FieldKey[]): boolean {
  return above.every((key, i) => String(key) === String(path[i]))
}
