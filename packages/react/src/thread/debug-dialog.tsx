import { X } from 'lucide-react'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { JsonExplorer } from '../json/json-explorer.tsx'
import { Button } from '../ui/button.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Modal } from '../ui/modal.tsx'
import { Notice } from '../ui/notice.tsx'
import { Spinner } from '../ui/spinner.tsx'

/** Properties of {@link DebugDialog}. */
export interface DebugDialogProps {
  conversation: string
  message: string
  /** JSON Pointer to the value that is shown first. */
  at: string
  onClose: () => void
}

/**
 * Renders a message's debug data as a tree that can be opened, searched and copied. They are loaded only when this
 * opens.
 */
export function DebugDialog({ conversation, message, at, onClose }: DebugDialogProps) {
  const { debugQuery } = useServer()
  const { data, error, isPending, isFetching, refetch } = useQuery(
    debugQuery(conversation, message),
  )
  return (
    <Modal
      title="Debug"
      onClose={onClose}
      returnTo={() => document.getElementById(`m-${message}`)?.querySelector('button')}
      className="inset-2 m-auto h-fit max-h-[min(46rem,calc(100%-1rem))] max-w-4xl animate-appear overflow-hidden rounded-xl sm:inset-8"
    >
      <div className="flex h-11 shrink-0 items-center border-b border-line pe-2 ps-4">
        <p aria-hidden className="flex-1 text-sm font-semibold">
          Debug
        </p>
        <Button icon aria-label="Close" onClick={onClose}>
          <X aria-hidden />
        </Button>
      </div>
      {isPending && (
        <div className="grid h-40 place-items-center">
          <Spinner label="Loading debug data" />
        </div>
      )}
      {error && (
        <div className="p-4">
          <LoadError what="The debug data" error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {data === null && (
        <div className="p-4">
          <Notice
            tone="warn"
            actions={
              <Button look="outline" disabled={isFetching} onClick={() => void refetch()}>
                Retry
              </Button>
            }
          >
            There is no debug data for this message.
          </Notice>
        </div>
      )}
      {data !== undefined && data !== null && (
        <JsonExplorer value={data} label="debug data" at={at} />
      )}
    </Modal>
  )
}
