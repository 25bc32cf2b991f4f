import { Upload } from 'lucide-react'
import { useRef, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { Tooltip } from '../ui/tooltip.tsx'
import { useNavigation } from './navigation.tsx'
import { closeDrawer } from './panels.ts'
import { useMay } from './role.ts'
import { useServer } from './server.ts'

/** Imports an exported conversation. Only owners see it. */
export function ImportButton() {
  const { client, forgetConversations, tellError } = useServer()
  const field = useRef<HTMLInputElement>(null)
  const [isBusy, setBusy] = useState(false)
  const { openConversation } = useNavigation()
  const mayImport = useMay('owner')
  if (!mayImport) return null

  async function take(file: File): Promise<void> {
    setBusy(true)
    try {
      const { id } = await client.importConversation(file)
      forgetConversations()
      closeDrawer()
      await openConversation(id)
    } catch (error) {
      // The notification is below a drawer.
      closeDrawer()
      tellError(`${file.name} was not imported.`, error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <>
      <Tooltip text="Import a conversation">
        <Button
          icon
          disabled={isBusy}
          aria-label="Import a conversation"
          onClick={() => field.current?.click()}
        >
          {isBusy ? <Spinner label="Importing" /> : <Upload aria-hidden />}
        </Button>
      </Tooltip>
      <input
        ref={field}
        type="file"
        accept=".jsonl,.ndjson,application/x-ndjson"
        aria-label="Conversation to import"
        tabIndex={-1}
        className="sr-only"
        onChange={(event) => {
          const [file] = event.target.files ?? []
          event.target.value = ''
          if (file) void take(file)
        }}
      />
    </>
  )
}
