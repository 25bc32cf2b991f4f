import type { AssetFailed } from 'byref/client'
import { useMemo } from 'react'
import { useConversation } from '../app/conversation-context.tsx'
import { AssetChip } from '../references/asset-chip.tsx'
import { Notice } from '../ui/notice.tsx'

/** Renders the files of the conversation that could not be read for a prompt, each with its last error. */
export function UnreadFiles() {
  const errors = useConversation((state) => state.assetErrors)
  const files = useMemo(() => lastByReference(errors), [errors])
  return files.map(([reference, { code, message }]) => (
    <Notice key={reference} tone="warn" code={code} className="mt-3 sm:ms-8">
      The model was not shown <AssetChip reference={reference} />
      <span className="mt-0.5 line-clamp-6 text-xs text-ink-2">{message}</span>
    </Notice>
  ))
}

function lastByReference(errors: readonly AssetFailed[]): [string, AssetFailed][] {
  return [...new Map(errors.flatMap((error) => (error.ref ? [[error.ref, error]] : [])))]
}
