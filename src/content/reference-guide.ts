/** What a conversation has, so that only what applies is said. */
export interface ReferenceGuideOptions {
  /** There are assets to refer to. */
  assets?: boolean
  /** There are data messages to refer to. */
  variables?: boolean
  /** The agent's tools write their results by `_outputPath`. */
  outputs?: boolean
}

const ASSETS = `Files and large values are assets. asset://<id> names one, asset://<id>/content/<key>/<index> a field in it; {"asset_id": "<id>", "field_path": ["content", "<key>", 0]} is the same as JSON. Write a reference in place of a value where a parameter accepts one, and never copy the bytes. In text, put it between <| and |>, as in ![chart](<|asset://<id>/content|>).`

const VARIABLES = `Blocks that start with "## Data: ¶" hold data. In any tool parameter the text †kind.path stands for the value there, such as †state.user.name, †state.items[0] or †state["odd key"], with †kind#instance for an instance. It must be the whole string. †a.x || †b.y takes the first that exists; \\† is a plain dagger.`

const OUTPUTS = `_outputPath, such as "†state.summary", says where a call's result is written; refer to it from there instead of repeating it.`

/** A short text that tells the model how to use references (spec L8); null where there is nothing to refer to. */
export function referenceGuide(options: ReferenceGuideOptions = {}): string | null {
  const { assets = false, variables = false, outputs = false } = options
  const parts = [assets && ASSETS, variables && VARIABLES, outputs && OUTPUTS].filter(Boolean)
  return parts.length > 0 ? parts.join('\n') : null
}
