import { Upload } from 'lucide-react'
import { useRef } from 'react'
import { Button } from '../ui/button.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { Tooltip } from '../ui/tooltip.tsx'
import { useAction } from '../ui/use-action.ts'
import { useOpenNew } from './conversation-actions.ts'
import { closeDrawer } from './panels.ts'
import { useMay } from './role.ts'
import { useServer } from './server.ts'

/** Imports an exported conversation. Only owners see it. */
export function ImportButton() {
  const { client, tellError } = useServer()
  const field = useRef<HTMLInputElement>(null)
  const openNew = useOpenNew()
  const mayImport = useMay('owner')
  const { run, isBusy } = useAction(async (file: File) => {
    try {
      const { id } = await client.importConversation(file)
      closeDrawer()
      await openNew(id)
    } catch (error) {
      // The notification is below a drawer.
      closeDrawer()
      tellError(`${file.name} was not imported.`, error)
    }
  })
  if (!mayImport) return null

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
          if (file) run(file)
        }}
      />
    </>
  )
}
