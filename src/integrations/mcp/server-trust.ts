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

/** Whether to believe a server's annotations and the labels of its results. */
export type ServerTrust = 'trusted' | 'untrusted'

/** The trust options of a server's tool. */
export interface ToolTrust
  extends Pick<Tool, 'readOnly' | 'openWorld' | 'returns' | 'outputSchema'> {
  /** Notes the label that an answer declares. Must be called before `returns`. */
  said(input: unknown, answer: CallToolResult): void
}

/**
 * Turns annotations into trust options. A label in the `_meta` of a result replaces the default of a trusted server. Of any
 * other server it only makes results stricter.
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
    readOnly,
    openWorld,
    outputSchema: outputSchema as JsonSchema | undefined,
    said(input, { _meta, structuredContent, content }) {
      const tree = labelInMeta(_meta)
      if (!tree) return
      // The label names fields of the structured content, which is the value if there is no other content.
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
