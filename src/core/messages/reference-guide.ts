/**
 * Explains references to the model, by topic. It is short because every prompt contains it. `outputs`,
 * `methods`, `instances` and `each` explain a parameter once for all tools that have it.
 */
export const GUIDE = {
  assets: `asset://<id> is a file or a large value, asset://<id>/content/<key> a field of it. As an argument, it stands for its content, as text, data or base64. Inside a longer text, also in your answer, write <|asset://<id>|>.`,
  variables: `"## Data: ¶kind" blocks hold data. As an argument, †kind.path stands for the value: †state.items[0], †state["odd key"], †kind#instance.path. Inside a longer text, write <|†state.total|>; \\† is a plain dagger.`,
  results: `A label such as †result#2 names the result of a call. As an argument, it stands for that value, and †result#2.items[0].id for a field of it: pass this instead of copying values. Inside a longer text, write <|†result#2.name|>.`,
  reading: `A large result is an asset with a preview: search_asset finds text in it, fetch_asset reads it.`,
  tables: `query_tables computes over a table or a list of rows, named by its reference.`,
  untrusted: `<untrusted …> hides a value that anybody may have written. Pass its name, such as †result#3.items[0].id, or call ask_about.`,
  outputs: `_outputPath "†state.a" also saves a result as †state.a. Later calls, and calls in the same answer, take †state.a or a field, †state.a.id, as an argument.`,
  methods: `_outputMethod: set (default), push or concat (to a list), merge (deep), assign (shallow) or delete.`,
  instances: `_instance "a" separates the data of calls: the call writes †kind#a, and reads †kind#a, or †kind if there is none.`,
  each: `_each runs a tool once per item of a list, such as "†state.rows" or "asset://<id>/content/rows". Its other parameters can use †item, †item.name and †index. The result is a list.`,
} as const

/** Which topics apply to a conversation and its agent. Only these are explained. */
export type ReferenceGuideOptions = { readonly [Topic in keyof typeof GUIDE]?: boolean }

/** Returns a short text that tells the model how to use references. Null if no topic applies. */
export function referenceGuide(options: ReferenceGuideOptions = {}): string | null {
  const topics = Object.entries(GUIDE).filter(([topic]) => options[topic as keyof typeof GUIDE])
  return topics.length > 0 ? topics.map(([, text]) => text).join('\n') : null
}
