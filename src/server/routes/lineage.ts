import type { z } from 'zod'
import { ByrefError } from '../../core/errors.ts'
import { isPlain, type Label, TRUSTED, writeLabel } from '../../core/labels/label.ts'
import { mapLabels, wholeOf, writeLabelTree } from '../../core/labels/label-tree.ts'
import type { Lineage, LineageNode } from '../../core/labels/lineage.ts'
import { type ConversationLog, readAll } from '../../log/conversation-log.ts'
import {
  labelsAnswer,
  labelsQuery,
  lineageAnswer,
  lineageQuery,
  type writtenLabel,
} from '../../wire/lineage.ts'
import { conversationLabels } from '../readers/conversation-labels.ts'
import type { ConversationReader } from '../readers/readers.ts'
import { type Route, route } from '../route.ts'

type Answer = z.infer<typeof lineageAnswer>

/** Lineage: where a value came from and what came of it. */
export function lineageRoutes(): Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/api/conversations/:id/lineage',
        summary: 'Where a value came from and what came of it',
        role: 'reader',
        query: lineageQuery,
        answers: { 200: lineageAnswer },
        errors: ['conversation_not_found', 'variable_not_found'],
      },
      async ({ query, reader, conversation, agent, json }) => {
        const { id, log } = await conversation()
        const lineage = await agent().lineage(id, query.ref)
        if (!lineage) {
          throw new ByrefError('variable_not_found', `Nothing here is called ${query.ref}`)
        }
        const reading = await (reader ? reader.conversation(log, id) : readFreely(log, id))
        return json(reading ? asRead(lineage, reading) : plain(lineage))
      },
    ),
    route(
      {
        method: 'get',
        path: '/api/conversations/:id/labels',
        summary: 'What in a conversation is not trusted, or private',
        role: 'reader',
        query: labelsQuery,
        answers: { 200: labelsAnswer },
        errors: ['conversation_not_found'],
      },
      async ({ query, reader, conversation, json }) => {
        const { id, log, summary } = await conversation()
        const reading = await (reader ? reader.conversation(log, id) : readFreely(log, id))
        if (reading) return json(marksOf(reading, query.after))
        return json({ position: summary.position, messages: {}, assets: {}, data: {} })
      },
    ),
  ]
}

/** What labels are read with: for whom, and whose. */
type Reading = Pick<ConversationReader, 'its' | 'may'>

/**
 * The labels of a conversation that agents with trust on had elsewhere, where nobody is kept from anything; null where none of its runs had
 * trust on.
 */
async function readFreely(log: ConversationLog, id: string): Promise<Reading | null> {
  const its = conversationLabels()
  let hasLabels = false
  for await (const record of readAll(log, id)) {
    const { event } = record
    its.apply(record)
    if ('trust' in event && event.trust !== 'off') hasLabels = true
  }
  return hasLabels ? { its, may: () => true } : null
}

function marksOf({ its, may }: Reading, after: number): z.infer<typeof labelsAnswer> {
  const { labels } = its
  const written = (label: Label) => writeLabel({ ...label, sources: [] }) as Written
  const marks = (entries: Iterable<[string, Label]>) =>
    Object.fromEntries(
      [...entries].flatMap(([id, label]) => (isPlain(label) ? [] : [[id, written(label)]])),
    )
  const messages: Record<string, Written> = {}
  for (const [id, position] of its.messages) {
    const tree = labels.message(id)
    const whole = wholeOf(tree)
    if (position <= after || isPlain(whole)) continue
    // Names of fields may be words of the value.
    const shown = may(whole) ? tree : { label: whole }
    messages[id] = writeLabelTree(mapLabels(shown, (one) => ({ ...one, sources: [] }))) as Written
  }
  return {
    position: its.position,
    messages,
    assets: marks([...its.assets].map((id) => [id, labels.asset({ id })])),
    data: marks(
      [...its.data].map(([name, ref]) => [
        name,
        labels.variable({ type: 'variable', path: [], ...ref }),
      ]),
    ),
  }
}

type Written = z.infer<typeof writtenLabel>

function plain({ of, nodes, edges }: Lineage): Answer {
  return { of: [...of], nodes: [...nodes], edges: [...edges] }
}

/** With labels, and without the names that somebody wrote who had seen what this reader may not. */
function asRead({ of, nodes, edges }: Lineage, reading: Reading): Answer {
  const { its, may } = reading
  const isKept = (call: string) => may(its.labels.contextOf(call.replace(/^call:/, '')))
  return {
    of: [...of],
    nodes: nodes.map((node) => {
      const label = labelOf(node, reading)
      const { ref, ...rest } = node
      const written =
        label === TRUSTED ? {} : { label: writeLabel(label) as Answer['nodes'][0]['label'] }
      const hides = node.type === 'data' && !may(label)
      return { ...rest, ...(ref === undefined || hides ? {} : { ref }), ...written }
    }),
    edges: edges.map(({ ref, ...edge }) =>
      ref === undefined || !isKept(edge.to) ? edge : { ...edge, ref },
    ),
  }
}

function labelOf({ id, type, ref }: LineageNode, { its }: Reading): Label {
  const name = id.slice(id.indexOf(':') + 1)
  if (type === 'asset') return its.labels.asset({ id: name })
  if (type !== 'call') return its.message(name) ?? TRUSTED
  const number = /^†result#(\d+)$/.exec(ref ?? '')?.[1]
  const tree = number === undefined ? null : its.labels.result(Number(number))
  return tree ? wholeOf(tree) : TRUSTED
}
