import type { Root } from 'hast'
import { toJsxRuntime } from 'hast-util-to-jsx-runtime'
import { common, createLowlight } from 'lowlight'
import type { ReactNode } from 'react'
import { Fragment, jsx, jsxs } from 'react/jsx-runtime'

const lowlight = createLowlight(common)

/** Colours code by CSS classes (`hljs-…`). Returns null for a language that is not known. */
export function highlight(code: string, language: string): ReactNode {
  if (!lowlight.registered(language)) return null
  const tree: Root = lowlight.highlight(language, code)
  return toJsxRuntime(tree, { Fragment, jsx, jsxs })
}
