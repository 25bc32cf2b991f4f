import type { Attachment } from 'byref/client'
import { AssetImage } from '../references/asset-image.tsx'
import { FileChip } from '../references/file-chip.tsx'

/** Renders the files of a message: small images, and anything else by name. */
export function Attachments({ attachments }: { attachments: readonly Attachment[] }) {
  return (
    <ul aria-label="Attachments" className="flex flex-wrap items-start gap-2">
      {attachments.map((attachment, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: attachments may repeat and never move
        <li key={index} className="max-w-full">
          {attachment.kind === 'image' ? (
            <AssetImage
              reference={attachment.assetRef}
              alt={attachment.fileName ?? 'Attached picture'}
              className="max-h-40"
            />
          ) : (
            <FileChip reference={attachment.assetRef} name={attachment.fileName} />
          )}
        </li>
      ))}
    </ul>
  )
}
