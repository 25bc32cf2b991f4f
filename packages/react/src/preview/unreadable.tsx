import type { AssetInfo } from 'byref/client'
import { useServer } from '../app/server.ts'
import { Notice } from '../ui/notice.tsx'

/** Replaces the preview of a file that the browser cannot show. */
export function Unreadable({ asset, what }: { asset: AssetInfo; what: string }) {
  const { client } = useServer()
  return (
    <Notice
      tone="warn"
      actions={
        <a
          href={client.assetUrl(asset.ref, { download: true })}
          download
          className="rounded px-1.5 py-1 text-xs text-ring hover:underline"
        >
          Download
        </a>
      }
    >
      This {what} cannot be shown. The file is damaged, or its format ({asset.mime}) is not one that
      this browser knows.
    </Notice>
  )
}
