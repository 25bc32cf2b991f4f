import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/client'
import type { JsonSchema } from '../../boundary/describe-schema.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { isPlain, join, type Label, TRUSTED, UNTRUSTED } from '../../core/labels/label.ts'
import {
  type LabelTree,
  type LabelTreeInput,
  readLabelTree,
  wholeOf,
  writeLabelTree,
} from '../../core/labels/label-tree.ts'
import type { Fields } from './rpc/json-rpc.ts'

/** The key of a label in the `_meta` of calls, results, resources and links. */
export const LABEL_KEY = 'byref/label'

/** Returns the label in a `_meta`; null if there is none. An invalid label is the strictest one. */
export function labelInMeta(meta: unknown): LabelTree | null {
  if (!isPlainObject(meta) || meta[LABEL_KEY] === undefined) return null
  return readLabelTree(meta[LABEL_KEY])
}

/** Joins a known label with the one in a `_meta`, which can only make it stricter. */
export function stricterByMeta(known: Label, meta: unknown): Label {
  const label = labelInMeta(meta)
  return label ? join(known, wholeOf(label)) : known
}

/**
 * Returns a label for the `_meta` of an outgoing message. It leaves out sources and the names of readers, which must
 * stay private.
 */
export function labelMeta({ integrity, confidentiality }: Label) {
  return { [LABEL_KEY]: { integrity, confidentiality } }
}

/** Returns a result with its label in `_meta`, unless it is trusted and public. */
export function withLabel(result: Fields, label: Label): Fields {
  if (isPlain(label)) return result
  return { ...result, _meta: { ...Object(result._meta), ...labelMeta(label) } }
}

/** Whether a server's annotations and the labels of its results are trusted. */
export type ServerTrust = 'trusted' | 'untrusted'

/**
 * Turns annotations into trust options. A label in the `_meta` of a result replaces the default of a trusted server. Of
 * any other server it only makes results stricter.
 */
export function serverTrust(
  tool: { annotations?: McpTool['annotations']; outputSchema?: unknown },
  trust: ServerTrust,
) {
  const { annotations = {}, outputSchema } = tool
  const isBelieved = trust === 'trusted'
  const readOnly = isBelieved && annotations.readOnlyHint === true
  const openWorld = !isBelieved || annotations.openWorldHint !== false
  const usual = openWorld ? UNTRUSTED : TRUSTED
  const labels = new WeakMap<object, LabelTree>()
  return {
    readOnly,
    openWorld,
    outputSchema: outputSchema as JsonSchema | undefined,
    /** Records the label that an answer declares. Call it before `returns`. */
    noteLabel(input: unknown, { _meta, structuredContent, content }: CallToolResult): void {
      const tree = labelInMeta(_meta)
      if (!tree) return
      // The label names fields of the structured content, which is the value if there is no other content.
      const isValue =
        structuredContent !== undefined && content.every(({ type }) => type === 'text')
      const own = isValue ? tree : { label: wholeOf(tree) }
      labels.set(Object(input), isBelieved ? own : { label: stricterByMeta(usual, _meta) })
    },
    returns: (input: unknown) => {
      const known = labels.get(Object(input))
      return known ? (writeLabelTree(known) as LabelTreeInput) : usual
    },
  }
}
