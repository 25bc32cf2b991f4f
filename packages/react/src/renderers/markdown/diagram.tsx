import { useEffect, useState } from 'react'
import { useIsDark } from '../../app/root.tsx'
import { Button } from '../../ui/button.tsx'
import { ScrollArea } from '../../ui/scroll-area.tsx'
import { CodeBlock } from './code-block.tsx'

type Drawing = { source: string; theme: string } & ({ image: Image } | { problem: string })

type Image = ReturnType<typeof imageOf>

/** Renders a Mermaid diagram. Its source is shown on demand, until the diagram is drawn, and if it has an error. */
export function Diagram({ source }: { source: string }) {
  const theme = useIsDark() ? 'dark' : 'light'
  const [drawing, setDrawing] = useState<Drawing | null>(null)
  const [isSource, setIsSource] = useState(false)
  useEffect(() => {
    let isCurrent = true
    const set = (drawn: Drawing) => isCurrent && setDrawing(drawn)
    import('./draw-diagram.ts')
      .then(({ drawDiagram }) => drawDiagram(source, theme))
      .then(
        (svg) => set({ source, theme, image: imageOf(svg) }),
        (error) => set({ source, theme, problem: messageOf(error) }),
      )
    return () => {
      isCurrent = false
    }
  }, [source, theme])
  // The diagram of the other theme stays until the new one is drawn.
  const drawn = drawing?.source === source ? drawing : null
  const image = drawn && 'image' in drawn ? drawn.image : null
  return (
    <>
      <CodeBlock
        code={source}
        language="mermaid"
        actions={
          image && (
            <Button
              aria-pressed={isSource}
              onClick={() => setIsSource(!isSource)}
              className="h-6 text-xs font-normal"
            >
              Source
            </Button>
          )
        }
      >
        {image && !isSource ? (
          <ScrollArea role="group" aria-label="Diagram" className="max-h-[36rem] bg-surface p-3">
            <img src={image.url} alt={titleOf(source)} className="mx-auto" style={image.style} />
          </ScrollArea>
        ) : null}
      </CodeBlock>
      {drawn && 'problem' in drawn && (
        <p className="mt-1 text-xs text-bad [overflow-wrap:anywhere]">
          This diagram cannot be drawn: {drawn.problem}
        </p>
      )}
    </>
  )
}

/** The text of a diagram that shrinks more is too small to read. A larger diagram scrolls. */
const MIN_SCALE = 0.75

/** Returns an SVG image, and the style that lets it shrink to fit. */
function imageOf(svg: string) {
  const [width, height] = ['width', 'height'].map((side) => {
    const size = Number(new RegExp(`^<svg[^>]*\\s${side}="(\\d+)"`).exec(svg)?.[1] ?? 0)
    return `${size * MIN_SCALE}px`
  })
  return {
    url: `data:image/svg+xml,${encodeURIComponent(svg)}`,
    style: { maxWidth: `max(100%, ${width})`, maxHeight: `max(34rem, ${height})` },
  }
}

/** Returns the first line of an error, and the place that it names. */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const [first = ''] = message.split('\n')
  return first.replace(/:$/, '.')
}

/** Returns the title of a diagram, or what kind of diagram it is. */
function titleOf(source: string): string {
  const title = /^\s*(?:accTitle:|title[: ])\s*(.+)$/m.exec(source)?.[1]
  const [kind = ''] = /^\s*[a-z]\w*/im.exec(source.replace(/^---\n[\s\S]*?\n---\n/, '')) ?? []
  return title ?? `Diagram: ${kind.trim()}`
}
