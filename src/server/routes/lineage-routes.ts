import type { z } from 'zod'
import { defined } from '../../core/defined.ts'
import { ByrefError } from '../../core/errors.ts'
import { isPlain, type Label, TRUSTED, writeLabel } from '../../core/labels/label.ts'
import { mapLabels, wholeOf, writeLabelTree } from '../../core/labels/label-tree.ts'
import type { Lineage, LineageNode } from '../../core/labels/lineage.ts'
import { ConversationLabels } from '../../log/conversation-labels.ts'
import { readAll } from '../../log/conversation-log.ts'
import {
  labelsAnswer,
  labelsQuery,
  lineageAnswer,
  lineageQuery,
  type writtenLabel,
} from '../../wire/labels-and-lineage.ts'
import type { ConversationReader } from '../readers/readers.ts'
import { type FoundConversation, type Route, route } from '../route.ts'

type Answer = z.infer<typeof lineageAnswer>

/** Lineage: where a value came from and where it was used. */
export const lineageRoutes: readonly Route[] = [
  route(
    'GET /api/conversations/:id/lineage',
    {
      role: 'reader',
      summary: 'Where a value came from and where it was used',
      query: lineageQuery,
      answers: { 200: lineageAnswer },
      errors: ['variable_not_found'],
    },
    async ({ query, conversation, json }) => {
      const found = await conversation()
      const lineage = await found.anyAgent().lineage(found.id, query.ref)
      if (!lineage) {
        throw new ByrefError(
          'variable_not_found',
          `"${query.ref}" does not exist in this conversation`,
        )
      }
      const reading = await labelsOf(found)
      return json(reading ? readableLineage(lineage, reading) : lineage)
    },
  ),
  route(
    'GET /api/conversations/:id/labels',
    {
      role: 'reader',
      summary: 'The labels of the untrusted and private values of a conversation',
      query: labelsQuery,
      answers: { 200: labelsAnswer },
    },
    async ({ query, conversation, json }) => {
      const found = await conversation()
      const reading = await labelsOf(found)
      if (reading) return json(marksOf(reading, query.after))
      const { position } = found.summary
      return json({ position, messages: {}, assets: {}, data: {} })
    },
  ),
]

/** The labels of a conversation, and what the caller may read. */
type Reading = Pick<ConversationReader, 'labels' | 'may'>

/**
 * Returns the labels of a conversation. On a server without trust everybody may read everything, but agents of another
 * server may have run the conversation with trust on. Null if no run had trust on.
 */
async function labelsOf({ id, log, readingOf }: FoundConversation): Promise<Reading | null> {
  const restricted = await readingOf()
  if (restricted) return restricted
  const labels = new ConversationLabels()
  for await (const record of readAll(log, id)) labels.apply(record)
  return labels.hasTrust ? { labels, may: () => true } : null
}

function marksOf({ labels, may }: Reading, after: number): z.infer<typeof labelsAnswer> {
  const { values } = labels
  const written = (label: Label) => writeLabel({ ...label, sources: [] }) as Written
  const marks = (entries: Iterable<[string, Label]>) =>
    Object.fromEntries(
      [...entries].flatMap(([id, label]) => (isPlain(label) ? [] : [[id, written(label)]])),
    )
  const messages: [string, Written][] = []
  for (const [id, position] of labels.messages) {
    const tree = values.message(id)
    const whole = wholeOf(tree)
    if (position <= after || isPlain(whole)) continue
    // Names of fields may be part of the value.
    const shown = may(whole) ? tree : { label: whole }
    const tidy = mapLabels(shown, (one) => ({ ...one, sources: [] }))
    messages.push([id, writeLabelTree(tidy) as Written])
  }
  return {
    position: labels.position,
    messages: Object.fromEntries(messages),
    assets: marks([...labels.assets].map((id) => [id, values.asset({ id })])),
    data: marks(
      [...labels.data].map(([name, ref]) => [
        name,
        values.variable({ type: 'variable', path: [], ...ref }),
      ]),
    ),
  }
}

type Written = z.infer<typeof writtenLabel>

/** Returns the lineage with labels, without names chosen by a model that had seen what this reader may not see. */
function readableLineage({ of, nodes, edges }: Lineage, reading: Reading): Answer {
  const { labels, may } = reading
  const isKept = (call: string) => may(labels.values.contextOf(call.replace(/^call:/, '')))
  return {
    of: [...of],
    nodes: nodes.map((node) => {
      const label = labelOf(node, reading)
      const { ref, ...rest } = node
      const hides = node.type === 'data' && !may(label)
      return defined({
        ...rest,
        ref: hides ? undefined : ref,
        label: label === TRUSTED ? undefined : (writeLabel(label) as Written),
      })
    }),
    edges: edges.map(({ ref, ...edge }) =>
      ref === undefined || !isKept(edge.to) ? edge : { ...edge, ref },
    ),
  }
}

function labelOf({ id, type, ref }: LineageNode, { labels }: Reading): Label {
  const name = id.slice(id.indexOf(':') + 1)
  if (type === 'asset') return labels.values.asset({ id: name })
  if (type !== 'call') return labels.message(name) ?? TRUSTED
  const number = /^†result#(\d+)$/.exec(ref ?? '')?.[1]
  const tree = number === undefined ? null : labels.values.result(Number(number))
  return tree ? wholeOf(tree) : TRUSTED
}
