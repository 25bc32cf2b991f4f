import type { z } from 'zod'
import { type Label, TRUSTED, writeLabel } from '../../content/label.ts'
import { wholeOf } from '../../content/label-tree.ts'
import type { Lineage, LineageNode } from '../../content/lineage.ts'
import { ByrefError } from '../../errors.ts'
import { lineageAnswer, lineageQuery } from '../../wire/lineage.ts'
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
        const reading = await reader?.conversation(log, id)
        return json(reading ? asRead(lineage, reading) : plain(lineage))
      },
    ),
  ]
}

function plain({ of, nodes, edges }: Lineage): Answer {
  return { of: [...of], nodes: [...nodes], edges: [...edges] }
}

/** With labels, and without the names that somebody wrote who had seen what this reader may not. */
function asRead({ of, nodes, edges }: Lineage, reading: ConversationReader): Answer {
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

function labelOf({ id, type, ref }: LineageNode, { its }: ConversationReader): Label {
  const name = id.slice(id.indexOf(':') + 1)
  if (type === 'asset') return its.labels.asset({ id: name })
  if (type !== 'call') return its.message(name) ?? TRUSTED
  const number = /^†result#(\d+)$/.exec(ref ?? '')?.[1]
  const tree = number === undefined ? null : its.labels.result(Number(number))
  return tree ? wholeOf(tree) : TRUSTED
}
