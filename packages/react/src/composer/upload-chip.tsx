import { RotateCw, X } from 'lucide-react'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { AssetIcon } from '../references/asset-icon.tsx'
import { tableShape } from '../references/table-shape.ts'
import { Button } from '../ui/button.tsx'
import { cn } from '../ui/cn.ts'
import { formatBytes, formatShare } from '../ui/format.ts'
import { Spinner } from '../ui/spinner.tsx'
import { visibleText } from '../ui/visible-text.ts'
import type { Upload } from './attached-files.ts'

/** Properties of {@link UploadChip}. */
export interface UploadChipProps {
  upload: Upload
  onRetry: () => void
  onRemove: () => void
}

/** Renders a file of the unsent message: its progress, its asset, or its error. */
export function UploadChip({ upload, onRetry, onRemove }: UploadChipProps) {
  const { file, status, progress, imported, error } = upload
  const name = visibleText(file.name)
  const done = imported?.share ?? progress
  return (
    <li
      className={cn(
        'relative flex min-h-9 max-w-full flex-wrap items-center gap-x-2 overflow-hidden rounded-lg border border-line bg-sunken pe-1 ps-2.5 text-xs',
        status === 'failed' && 'border-bad-line bg-bad-soft',
      )}
    >
      {status === 'sending' ? (
        <Spinner className="size-3.5" />
      ) : (
        <AssetIcon asset={upload.result?.asset} className="size-3.5 shrink-0 text-ink-3" />
      )}
      <span dir="auto" className="max-w-52 truncate font-medium">
        {name}
      </span>
      <span
        className={cn(
          'text-ink-3 tabular-nums',
          error ? 'order-last basis-full pb-1 text-bad [overflow-wrap:anywhere]' : 'truncate',
        )}
      >
        {status === 'sending' && howFar(upload)}
        {status === 'done' && <Facts upload={upload} />}
        {error && `Not attached. ${error.message}`}
      </span>
      {status === 'failed' && (
        <Button icon aria-label={`Retry ${name}`} onClick={onRetry} className="size-6">
          <RotateCw aria-hidden />
        </Button>
      )}
      <Button
        icon
        aria-label={status === 'sending' ? `Cancel ${name}` : `Remove ${name}`}
        onClick={onRemove}
        className="size-6"
      >
        <X aria-hidden />
      </Button>
      {status === 'sending' && (
        <span
          role="progressbar"
          data-bar
          aria-label={`Uploading ${name}`}
          aria-valuenow={Math.round(done * 100)}
          aria-valuemin={0}
          aria-valuemax={100}
          className="absolute bottom-0 inset-s-0 h-0.5 bg-ring transition-[width]"
          style={{ width: `${done * 100}%` }}
        />
      )}
    </li>
  )
}

/** Describes the progress: the part that was sent, or the part that was read after sending. */
function howFar({ file, progress, imported }: Upload): string {
  if (imported)
    return `Building table, ${formatShare(Math.min(1, imported.share))}${imported.isAgain ? ', second pass' : ''}`
  if (progress >= 1) return 'The server is reading it…'
  return `${formatShare(progress)} of ${formatBytes(file.size)}`
}

function Facts({ upload }: { upload: Upload }) {
  const { assetQuery } = useServer()
  const table = upload.result?.table
  const { data } = useQuery({ ...assetQuery(table?.assetId ?? ''), enabled: Boolean(table) })
  return (data && tableShape(data.meta)) ?? formatBytes(upload.file.size)
}
