/** What a conversation has, so that only what applies is said. */
export interface ReferenceGuideOptions {
  /** There are assets to refer to. */
  assets?: boolean
  /** There are data messages to refer to. */
  variables?: boolean
  /** The agent's tools write their results by `_outputPath`. */
  outputs?: boolean
}

const ASSETS = `Files and large values are assets: asset://<id> names one, asset://<id>/content/<key>/0 a field in it. Where a parameter accepts a reference, write it in place of the value. In text put it between <| and |>: ![chart](<|asset://<id>/content|>).`

const VARIABLES = `"## Data: ¶kind" blocks hold data. As a whole tool parameter, †kind.path stands for the value there: †state.user.name, †state.items[0], †state["odd key"], †kind#instance.path. †a || †b takes the first that exists; \\† is a plain dagger.`

const OUTPUTS = `_outputPath, such as "†state.summary", says where a result is written; refer to it there instead of repeating it.`

/** A short text that tells the model how to use references (spec L8); null where there is nothing to refer to. */
export function referenceGuide(options: ReferenceGuideOptions = {}): string | null {
  const { assets = false, variables = false, outputs = false } = options
  const parts = [assets && ASSETS, variables && VARIABLES, outputs && OUTPUTS].filter(Boolean)
  return parts.length > 0 ? parts.join('\n') : null
}
