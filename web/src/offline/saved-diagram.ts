import { page } from './client.ts'

/** Returns a diagram that was drawn when the page was saved. */
export async function drawDiagram(source: string, theme: 'light' | 'dark'): Promise<string> {
  const saved = page.diagrams?.find((diagram) => diagram.source === source)
  if (!saved) throw new Error('It was not saved with this page.')
  return saved[theme]
}
