import 'katex/dist/katex.min.css'
import katex from 'katex'

/**
 * Renders a TeX formula into an element. Returns what is wrong with the formula, or null. Without fonts, it uses the
 * browser's MathML.
 */
export function typeset(
  tex: string,
  element: HTMLElement,
  { display, hasFonts }: { display: boolean; hasFonts: boolean },
): string | null {
  try {
    katex.render(tex, element, {
      displayMode: display,
      output: hasFonts ? 'htmlAndMathml' : 'mathml',
      strict: 'ignore',
      // No links and no pictures, and no formula that fills the page.
      trust: false,
      maxSize: 20,
      maxExpand: 500,
    })
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
