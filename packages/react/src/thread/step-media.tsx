import { parseAssetRef } from 'byref/client'
import { useConversation } from '../app/conversation-context.tsx'
import { AssetImage } from '../references/asset-image.tsx'
import { FileChip } from '../references/file-chip.tsx'
import type { Media } from './find-media.ts'

/** Renders what a step made and no message shows: images with their titles, files by name. */
export function StepMedia({ media, title }: { media: readonly Media[]; title: string }) {
  // The streaming answer may show it.
  const written = useConversation(({ streaming }) => {
    const texts = Object.values(streaming)
    return media
      .filter(({ ref }) => texts.some((text) => text.includes(parseAssetRef(ref)?.id ?? ref)))
      .map(({ ref }) => ref)
      .join('\n')
  })
  const hidden = new Set(written.split('\n'))
  const shown = media.filter(({ ref }) => !hidden.has(ref))
  if (shown.length === 0) return null
  const pictures = shown.filter(({ kind }) => kind === 'image')
  const files = shown.filter(({ kind }) => kind !== 'image')
  return (
    <div className="mt-1 mb-2 space-y-2">
      {pictures.map((picture) => (
        <figure key={picture.ref} className="min-w-0">
          <AssetImage reference={picture.ref} alt={picture.title ?? title} />
          <figcaption dir="auto" className="mt-1 text-xs text-ink-3 [overflow-wrap:anywhere]">
            {picture.title ?? title}
          </figcaption>
        </figure>
      ))}
      {files.length > 0 && (
        <ul aria-label="Files" className="flex flex-wrap items-start gap-2">
          {files.map(({ ref, title: name }) => (
            <li key={ref} className="max-w-full">
              <FileChip reference={ref} name={name} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
