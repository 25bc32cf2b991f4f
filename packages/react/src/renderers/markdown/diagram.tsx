import { useEffect, useState } from 'react'
import { useIsDark } from '../../app/root.tsx'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from './code-block.tsx'

type Drawing = { source: string; theme: string } & ({ image: string } | { problem: string })

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
        (svg) => set({ source, theme, image: `data:image/svg+xml,${encodeURIComponent(svg)}` }),
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
          <div className="bg-surface p-3">
            <img src={image} alt={titleOf(source)} className="mx-auto max-h-[36rem] max-w-full" />
          </div>
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
