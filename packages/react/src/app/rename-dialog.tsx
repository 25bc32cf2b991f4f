import type { ConversationSummary } from 'byref/client'
import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Modal } from '../ui/modal.tsx'
import { useRenameConversation } from './conversation-actions.ts'

/** Asks for a new title. An empty one restores the conversation's own. */
export function RenameDialog({
  conversation: { id, title },
  onClose,
}: {
  conversation: Pick<ConversationSummary, 'id' | 'title'>
  onClose: () => void
}) {
  const [text, setText] = useState(title ?? '')
  const rename = useRenameConversation()
  return (
    <Modal
      title="Rename this conversation"
      onClose={onClose}
      className="inset-x-3 top-[20vh] mx-auto max-h-[75vh] max-w-md animate-appear overflow-y-auto rounded-xl p-4"
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onClose()
          void rename(id, text)
        }}
      >
        <label className="block text-sm font-medium">
          Title
          <input
            // biome-ignore lint/a11y/noAutofocus: it is what the dialog is for
            autoFocus
            dir="auto"
            value={text}
            maxLength={200}
            placeholder="Automatic title"
            onFocus={(event) => event.target.select()}
            onChange={(event) => setText(event.target.value)}
            className="mt-1 h-9 w-full rounded-md border border-line-strong bg-surface px-2.5 text-base max-md:text-[1rem]"
          />
        </label>
        <div className="mt-4 flex flex-wrap justify-end gap-2">
          <Button look="outline" onClick={onClose}>
            Cancel
          </Button>
          <Button look="solid" type="submit">
            Rename
          </Button>
        </div>
      </form>
    </Modal>
  )
}
