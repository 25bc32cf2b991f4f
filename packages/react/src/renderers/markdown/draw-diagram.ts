import mermaid from 'mermaid'

/** Waits for the diagram before it: the library has one configuration for all. */
let last: Promise<unknown> = Promise.resolve()
let count = 0

/**
 * Draws a Mermaid diagram as an SVG image. Rejects a diagram with an error. The image is shown by `<img>`, where it can
 * neither run scripts, load anything, nor style the page.
 */
export function drawDiagram(source: string, theme: 'light' | 'dark'): Promise<string> {
  const drawn = last.then(async () => {
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: 'strict',
      suppressErrorRendering: true,
      htmlLabels: false,
      theme: theme === 'dark' ? 'dark' : 'default',
      // As in styles.css. An image has only the fonts of the system.
      fontFamily: 'ui-sans-serif, system-ui, sans-serif',
    })
    count += 1
    const { svg } = await mermaid.render(`diagram-${count}`, source)
    return sized(svg)
  })
  last = drawn.catch(() => {})
  return drawn
}

/** Gives an SVG the size of its view box, because an image has no other. */
function sized(svg: string): string {
  const page = new DOMParser().parseFromString(svg, 'text/html')
  const root = page.querySelector('svg')
  if (!root) throw new Error('The diagram is empty.')
  const [, , width, height] = (root.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number)
  if (width && height) {
    root.setAttribute('width', `${Math.ceil(width)}`)
    root.setAttribute('height', `${Math.ceil(height)}`)
  }
  return new XMLSerializer().serializeToString(root)
}
