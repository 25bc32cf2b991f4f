import { useQuery } from '@tanstack/react-query'
import type { Attachment } from 'byref/client'
import { assetQuery } from '../app/client.ts'
import { AssetChip } from '../references/asset-chip.tsx'
import { AssetImage } from '../references/asset-image.tsx'
import { parse } from '../references/kinds.ts'
import { tableShape } from '../references/table-shape.ts'

/** The files of a message: pictures small, anything else by name. */
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
            <FileChip attachment={attachment} />
          )}
        </li>
      ))}
    </ul>
  )
}

function FileChip({ attachment }: { attachment: Attachment }) {
  const id = parse(attachment.assetRef)?.id
  const { data } = useQuery({ ...assetQuery(id ?? ''), enabled: id !== undefined })
  return (
    <AssetChip
      reference={attachment.assetRef}
      name={attachment.fileName}
      detail={data ? tableShape(data.meta) : null}
      className="h-7 px-2"
    />
  )
}
