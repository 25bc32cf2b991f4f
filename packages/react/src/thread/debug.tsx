import { useConversationId } from '../app/conversation-context.tsx'
import { useChangeView, useHash, useView } from '../app/navigation.tsx'
import { lazyPart } from '../ui/lazy-part.tsx'
import { readHash } from './read-hash.ts'

const DebugDialog = lazyPart(async () => (await import('./debug-dialog.tsx')).DebugDialog)

/** Opens the debug data that the address names: those of the message in the hash, if the view has `debug`. */
export function Debug() {
  const { debug } = useView()
  const hash = useHash()
  const conversation = useConversationId()
  const change = useChangeView()
  if (debug === undefined || conversation === null || !hash.startsWith('m-')) return null
  return (
    <DebugDialog
      conversation={conversation}
      message={readHash(hash).slice(2)}
      at={debug}
      onClose={() => change({ debug: undefined })}
    />
  )
}
