import type { Message } from 'byref/client'
import { useEffect, useRef, useState } from 'react'
import { useRetry } from '../app/conversation-actions.ts'
import { useConversationId } from '../app/conversation-context.tsx'
import { ActionError } from '../ui/action-error.tsx'
import { Button } from '../ui/button.tsx'
import { useAction } from '../ui/use-action.ts'

/** Edits a person's message and continues from there in another version of the conversation. */
export function EditMessage({ message, onClose }: { message: Message; onClose: () => void }) {
  const retry = useRetry()
  const conversation = useConversationId()
  const box = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(String(message.content))
  const content = text.trim()
  const { run, isBusy, error } = useAction(async (id: string) => {
    await retry(id, message.id, { content })
    onClose()
  })

  useEffect(() => {
    box.current?.focus()
    box.current?.setSelectionRange(box.current.value.length, box.current.value.length)
    box.current?.form?.scrollIntoView({ block: 'nearest' })
  }, [])

  function save(): void {
    if (conversation !== null && content !== '') run(conversation)
  }

  return (
    <form
      aria-label="Edit message"
      // The button that leads to the end of the thread is below.
      className="scroll-mt-4 scroll-mb-14"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose()
      }}
    >
      <textarea
        ref={box}
        dir="auto"
        value={text}
        aria-label="Message text"
        rows={Math.min(12, Math.max(2, text.split('\n').length))}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          save()
        }}
        className="block w-full resize-y rounded-lg border border-line-strong bg-raised px-3 py-2 text-base max-md:text-[1rem]"
      />
      <ActionError what="Nothing was sent." error={error} className="mt-2" />
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <Button look="solid" type="submit" disabled={isBusy || content === ''}>
          Continue from here
        </Button>
        <Button look="outline" onClick={onClose}>
          Cancel
        </Button>
        <span className="text-xs text-ink-3">
          The current version stays. The arrows switch between versions.
        </span>
      </div>
    </form>
  )
}
