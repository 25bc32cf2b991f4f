/**
 * Explains references to the model, by topic. It is short because every prompt contains it. `outputs`,
 * `methods`, `instances` and `each` explain a parameter once for all tools that have it.
 */
export const GUIDE = {
  assets: `asset://<id> is a file or a large value, asset://<id>/content/<key> a field in it. Pass it where a parameter takes asset://…; in text, write <|asset://<id>|>.`,
  anywhere: `asset://<id> is a file or a large value, asset://<id>/content/<key> a field in it. Pass it as a parameter in place of the value; in text, write <|asset://<id>|>.`,
  variables: `"## Data: ¶kind" blocks hold data. As a parameter, †kind.path stands for the value: †state.items[0], †state["odd key"], †kind#instance.path. In text, write <|†state.total|>; \\† is a plain dagger.`,
  results: `†result#12 is a tool's result: pass †result#12.items[0].id instead of copying the value.`,
  reading: `A large result is an asset with a preview: search_asset finds text in it, fetch_asset reads it.`,
  untrusted: `<untrusted …> hides a value that anybody may have written. Pass its name, such as †result#3.items[0].id, or call ask_about.`,
  outputs: `_outputPath "†state.a" saves a result as †state.a; calls in the same answer can read it.`,
  methods: `_outputMethod: set (default), push, concat, merge (deep), assign (shallow) or delete.`,
  instances: `_instance "a" lets a call read †kind#a, or else †kind, and write †kind#a.`,
  each: `_each runs a tool once per item of a list, such as "†state.rows" or "asset://<id>/content/rows". Its other parameters can use †item, †item.name and †index. The result is a list.`,
} as const

/** Which topics apply to a conversation and its agent. Only these are explained. */
export type ReferenceGuideOptions = { readonly [Topic in keyof typeof GUIDE]?: boolean }

/** Returns a short text that tells the model how to use references. Null if no topic applies. */
export function referenceGuide(options: ReferenceGuideOptions = {}): string | null {
  const topics = Object.entries(GUIDE).filter(([topic]) => options[topic as keyof typeof GUIDE])
  return topics.length > 0 ? topics.map(([, text]) => text).join('\n') : null
}
