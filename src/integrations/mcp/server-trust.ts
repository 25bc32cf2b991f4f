import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/client'
import type { JsonSchema } from '../../boundary/describe-schema.ts'
import type { Tool } from '../../boundary/tool.ts'
import { TRUSTED, UNTRUSTED } from '../../core/labels/label.ts'
import {
  type LabelTree,
  type LabelTreeInput,
  wholeOf,
  writeLabelTree,
} from '../../core/labels/label-tree.ts'
import { labelInMeta, stricterByMeta } from './label-meta.ts'

/** Whether a server is believed: its annotations, and the labels of its results. */
export type ServerTrust = 'trusted' | 'untrusted'

/** What a tool of a server says of itself, by how far the server is believed. */
export interface ToolTrust
  extends Pick<Tool, 'readOnly' | 'openWorld' | 'accepts' | 'returns' | 'outputSchema'> {
  /** Notes what an answer says of itself, before its value is looked at. */
  said(input: unknown, answer: CallToolResult): void
}

/**
 * Annotations as what a tool of ours says. Who reads the open world sends its arguments there: that takes nothing private.
 * Labels in `_meta` take the place of a trusted server's default, and else are joined with it.
 */
export function serverTrust(
  {
    annotations = {},
    outputSchema,
  }: { annotations?: McpTool['annotations']; outputSchema?: unknown },
  trust: ServerTrust,
): ToolTrust {
  const isBelieved = trust === 'trusted'
  const readOnly = isBelieved && annotations.readOnlyHint === true
  const openWorld = !isBelieved || annotations.openWorldHint !== false
  const usual = openWorld ? UNTRUSTED : TRUSTED
  const labels = new WeakMap<object, LabelTree>()
  return {
    ...{ readOnly, openWorld, outputSchema: outputSchema as JsonSchema | undefined },
    ...(readOnly && openWorld ? { accepts: { confidentiality: 'public' } } : {}),
    said(input, { _meta, structuredContent, content }) {
      const tree = labelInMeta(_meta)
      if (!tree) return
      // Fields are those of the data, which are the value where nothing stands beside them.
      const isValue =
        structuredContent !== undefined && content.every(({ type }) => type === 'text')
      const own = isValue ? tree : { label: wholeOf(tree) }
      labels.set(Object(input), isBelieved ? own : { label: stricterByMeta(usual, _meta) })
    },
    returns: (input) => {
      const known = labels.get(Object(input))
      return known ? (writeLabelTree(known) as LabelTreeInput) : usual
    },
  }
}
