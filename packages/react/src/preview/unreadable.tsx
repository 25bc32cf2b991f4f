import type { AssetInfo } from 'byref/client'
import { Notice } from '../ui/notice.tsx'
import { DownloadLink } from './download-link.tsx'

/** Replaces the preview of a file that the browser cannot show. */
export function Unreadable({ asset, what }: { asset: AssetInfo; what: string }) {
  return (
    <Notice tone="warn" actions={<DownloadLink reference={asset.ref} />}>
      This {what} cannot be shown. The file is damaged, or its format ({asset.mime}) is not one that
      this browser knows.
    </Notice>
  )
}
