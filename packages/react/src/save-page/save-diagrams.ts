import type { SavedDiagram } from './page.ts'

/**
 * Draws the Mermaid diagrams in the lines of an export, each once. A diagram with an error is left out: the page shows
 * its source.
 */
export async function saveDiagrams(
  lines: readonly string[],
  signal: AbortSignal,
): Promise<readonly SavedDiagram[]> {
  const sources = new Set(lines.flatMap((line) => diagramsIn(JSON.parse(line))))
  if (sources.size === 0) return []
  const { drawDiagram } = await import('../renderers/markdown/draw-diagram.ts')
  const saved: SavedDiagram[] = []
  for (const source of sources) {
    signal.throwIfAborted()
    try {
      const light = await drawDiagram(source, 'light')
      saved.push({ source, light, dark: await drawDiagram(source, 'dark') })
    } catch {
      // The workbench shows its source, too.
    }
  }
  return saved
}

/** Returns the sources of the diagrams in the texts of a value. */
export function diagramsIn(value: unknown): string[] {
  if (typeof value === 'string') return fencesIn(value)
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(diagramsIn)
}

const OPEN = /^([ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})[ \t]*mermaid\b/

function fencesIn(text: string): string[] {
  if (!text.includes('mermaid')) return []
  const sources: string[] = []
  let open: { indent: number; marker: string; lines: string[] } | null = null
  for (const line of text.split(/\r?\n/)) {
    if (open === null) {
      const [, before = '', marker] = OPEN.exec(line) ?? []
      if (marker) open = { indent: before.length, marker, lines: [] }
    } else if (
      line
        .replace(/^[ \t>]*/, '')
        .trimEnd()
        .startsWith(open.marker)
    ) {
      sources.push(open.lines.join('\n'))
      open = null
    } else open.lines.push(withoutPrefix(line, open.indent))
  }
  return sources
}

/** Returns a line without the indentation, or the marks of quotes, of the fence that it is in. */
function withoutPrefix(line: string, indent: number): string {
  const prefix = /^[ \t>]*/.exec(line.slice(0, indent))?.[0] ?? ''
  return line.slice(prefix.length)
}
