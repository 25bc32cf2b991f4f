import type { Share } from './read-prompt.ts'

/** The names and colors of the parts of a prompt. */
export const SHARES: Record<Share, { name: string; color: string }> = {
  instructions: { name: 'Instructions', color: 'bg-violet-500' },
  history: { name: 'History', color: 'bg-ink-3' },
  data: { name: 'Saved values', color: 'bg-amber-500' },
  metas: { name: 'File descriptions', color: 'bg-blue-500' },
  media: { name: 'Media', color: 'bg-pink-500' },
  tools: { name: 'Tools', color: 'bg-emerald-500' },
}
