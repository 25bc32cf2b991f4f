import type { Assets } from '../../assets/assets-contract.ts'
import { base64Of } from '../../assets/bodies/data-url.ts'
import { convertAsset } from '../../boundary/convert-asset.ts'
import type { JsonSchema } from '../../boundary/describe-schema.ts'
import { Later, replacePlaces } from '../../boundary/replace-places.ts'
import { acceptsRefs } from '../../boundary/resolve-assets.ts'
import { fillInMarks } from '../../boundary/resolve-variables.ts'
import { toolsForModel } from '../../boundary/tool-schema.ts'
import { mapSubschemas } from '../../core/board/schema-keywords.ts'
import type { Alternatives } from '../../core/board/schema-walk.ts'
import { ByrefError } from '../../core/errors.ts'
import { type AssetRef, isAssetRef } from '../../core/refs/asset-ref.ts'

/** Parameters that references may stand for: not those of few values, nor those that are HTTP headers too. */
const isClosing = (keyword: string): boolean => /^(enum|const|x-mcp-header)$/.test(keyword)

const CLOSED = new Set<unknown>(['boolean', 'null'])

/** The schema of a tool's parameters that says of each, at any depth, that it takes references. */
export function takingReferences(schema: JsonSchema): JsonSchema {
  return mapSubschemas(schema, (one) => {
    const marked = takingReferences(one)
    const isClosed = CLOSED.has(one.type) || Object.keys(one).some(isClosing)
    return isClosed ? marked : { ...marked, asset_ref_acceptable: true }
  })
}

/** As {@link takingReferences}, in words that every model understands. */
export function shownTakingReferences(id: string, schema: JsonSchema): JsonSchema {
  const own = {
    outputPath: false,
    variables: false,
    mappable: false,
    description: '',
    execute() {},
  }
  const tool = { id, ...own, inputSchema: takingReferences(schema) }
  const [shown] = toolsForModel(new Map([[id, tool]]))
  return shown?.inputSchema as JsonSchema
}

/**
 * Arguments with the values of the references in them, as JSON can carry them: text, data, and bytes as base64. In longer
 * text `<|asset://…|>` is replaced by text. What is put in is never looked at again.
 *
 * @param schema From {@link takingReferences}.
 * @throws ByrefError of the reference that failed, or `invalid_arguments` for one that does not fit
 */
export function resolveReferences(
  args: Record<string, unknown>,
  schema: JsonSchema,
  assets: Assets,
): Promise<Record<string, unknown>> {
  const source = { reader: NO_VARIABLES, assets: () => assets }
  return replacePlaces(args, schema, (value, place) => {
    const alternatives = (): Alternatives => {
      const said = place.alternatives()
      return said.length === 0 ? ANYTHING : said.filter(acceptsRefs)
    }
    if (isAssetRef(value)) {
      const accepting = alternatives()
      if (accepting.length === 0) return value
      return new Later(() => asJson(value as string | AssetRef, accepting, assets))
    }
    const hasMarks = typeof value === 'string' && /<\|\s*(asset:|\{)/i.test(value)
    return hasMarks ? fillInMarks(value, { ...place, alternatives }, source) : value
  })
}

/** Where a schema says nothing, as within objects of any fields. */
const ANYTHING: Alternatives = [{ asset_ref_acceptable: true }]

/** Variables mean nothing here, and stay as they are written. */
const NO_VARIABLES = { read: (text: string) => `<|${text}|>`, has: () => false, knows: () => false }

async function asJson(
  ref: string | AssetRef,
  accepting: readonly JsonSchema[],
  assets: Assets,
): Promise<unknown> {
  try {
    const { value } = await convertAsset(ref, accepting, assets)
    return value instanceof Uint8Array ? base64Of(value) : value
  } catch (error) {
    const isMisfit = error instanceof ByrefError && error.code === 'invalid_arguments'
    // Only bytes that are no text are no text.
    if (!isMisfit || !accepting.some(({ type }) => [type].flat().includes('string'))) throw error
    return (await assets.getBase64(ref)).base64
  }
}
