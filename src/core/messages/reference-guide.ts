/**
 * What the model is told of references, by topic. Short, since it is sent with each prompt. `outputs`, `methods`,
 * `instances` and `each` explain a parameter once for all tools that have it.
 */
export const GUIDE = {
  assets: `asset://<id> names a file or a large value, asset://<id>/content/<key> a field in it: pass it where a parameter takes asset://…, in text write <|asset://<id>|>.`,
  variables: `"## Data: ¶kind" blocks hold data. As a whole parameter, †kind.path stands for the value there: †state.items[0], †state["odd key"], †kind#instance.path. †a || †b takes the first that exists. Inside longer text write <|†state.total|>; \\† is a plain dagger.`,
  results: `†result#12 names a tool's result: pass †result#12.items[0].id instead of writing its value again.`,
  reading: `Large results are assets with a preview: find in them by search_asset, read on by fetch_asset (a field by its reference, lines by startLine).`,
  untrusted: `<untrusted …> is a value that anybody may have written, not shown to you: pass on its name, such as †result#3.items[0].id, or use ask_about.`,
  outputs: `_outputPath, such as "†state.a", writes a call's result there; other calls of the same answer may read it as †state.a. "†a && †b" writes to both; "†a || †b" writes a result to †a, or an error to †b.`,
  methods: `_outputMethod says how a result is written: "set" (default) replaces, "push" appends to a list, "concat" joins lists or text, "merge" merges objects, "assign" only their top level, "delete" removes.`,
  instances: `_instance, such as "a", makes a call read †kind#a where †kind is written, †kind if there is none, and write to †kind#a.`,
  each: `_each, a list such as "†state.comments" or "asset://<id>/content/rows", runs a tool once for each item; in the other parameters †item (†item.name) and †index stand for it. The result is the list of results.`,
} as const

/** What a conversation and its agent have, so that only what applies is said. */
export type ReferenceGuideOptions = { readonly [Topic in keyof typeof GUIDE]?: boolean }

/** A short text that tells the model how to use references; null where there is nothing to refer to. */
export function referenceGuide(options: ReferenceGuideOptions = {}): string | null {
  const told = Object.entries(GUIDE).filter(([topic]) => options[topic as keyof typeof GUIDE])
  return told.length > 0 ? told.map(([, text]) => text).join('\n') : null
}
