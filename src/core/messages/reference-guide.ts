/**
 * Explains references to the model, by topic. It is short because every prompt contains it. `outputs`,
 * `methods`, `instances` and `each` explain a parameter once for all tools that have it.
 */
export const GUIDE = {
  assets: `asset://<id> names a file or a large value, asset://<id>/content/<key> a field in it. Pass it where a parameter takes asset://…; in text write <|asset://<id>|>.`,
  variables: `"## Data: ¶kind" blocks hold data. As a whole parameter, †kind.path stands for the value there: †state.items[0], †state["odd key"], †kind#instance.path. †a || †b takes the first that exists. Inside longer text write <|†state.total|>; \\† is a plain dagger.`,
  results: `†result#12 names a tool's result: pass †result#12.items[0].id instead of writing its value again.`,
  reading: `Large results are assets with a preview: search with search_asset, read with fetch_asset (a field by its reference, lines by startLine).`,
  untrusted: `<untrusted …> is a hidden value that anybody may have written. Pass its name, such as †result#3.items[0].id, or use ask_about.`,
  outputs: `_outputPath, such as "†state.a", writes a call's result there; other calls of the same answer may read it as †state.a. "†a && †b" writes to both; "†a || †b" writes a result to †a, or an error to †b.`,
  methods: `_outputMethod says how a result is written: "set" (default) replaces, "push" appends to a list, "concat" joins lists or text, "merge" merges objects, "assign" only their top level, "delete" removes.`,
  instances: `With _instance "a", a call reads †kind#a for †kind (or †kind if there is none), and writes to †kind#a.`,
  each: `_each, a list such as "†state.comments" or "asset://<id>/content/rows", runs a tool once for each item; in the other parameters †item (†item.name) and †index refer to it. The result is the list of results.`,
} as const

/** Which topics apply to a conversation and its agent. Only these are explained. */
export type ReferenceGuideOptions = { readonly [Topic in keyof typeof GUIDE]?: boolean }

/** Returns a short text that tells the model how to use references. Null if no topic applies. */
export function referenceGuide(options: ReferenceGuideOptions = {}): string | null {
  const told = Object.entries(GUIDE).filter(([topic]) => options[topic as keyof typeof GUIDE])
  return told.length > 0 ? told.map(([, text]) => text).join('\n') : null
}
