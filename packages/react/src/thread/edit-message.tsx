import type { Message } from 'byref/client'
import { useEffect, useRef, useState } from 'react'
import { useConversationId } from '../app/conversation-context.tsx'
import { useNavigation } from '../app/navigation.tsx'
import { useServer } from '../app/server.ts'
import { Button } from '../ui/button.tsx'
import { errorText } from '../ui/error-text.ts'
import { Notice } from '../ui/notice.tsx'

/** Edits a person's message and continues from there in another version of the conversation. */
export function EditMessage({ message, onClose }: { message: Message; onClose: () => void }) {
  const { client, forgetConversations } = useServer()
  const conversation = useConversationId()
  const { openConversation } = useNavigation()
  const box = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(String(message.content))
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<{ code?: string; message: string } | null>(null)

  useEffect(() => {
    box.current?.focus()
    box.current?.setSelectionRange(box.current.value.length, box.current.value.length)
    box.current?.form?.scrollIntoView({ block: 'nearest' })
  }, [])

  async function save(): Promise<void> {
    if (conversation === null || text.trim() === '' || busy) return
    setBusy(true)
    setProblem(null)
    try {
      const made = await client.retry(conversation, message.id, { content: text.trim() })
      forgetConversations()
      await openConversation(made.conversation)
      onClose()
    } catch (error) {
      setProblem(errorText(error))
      setBusy(false)
    }
  }

  return (
    <form
      aria-label="Edit message"
      // The button that leads to the end of the thread is below.
      className="scroll-mt-4 scroll-mb-14"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
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
          void save()
        }}
        className="block w-full resize-y rounded-lg border border-line-strong bg-raised px-3 py-2 text-base max-md:text-[1rem]"
      />
      {problem && (
        <Notice tone="bad" code={problem.code} live className="mt-2">
          Nothing was sent. {problem.message}
        </Notice>
      )}
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <Button look="solid" type="submit" disabled={busy || text.trim() === ''}>
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
