import { useState } from 'react'
import { useConversationId } from '../../app/conversation-context.tsx'
import { useServer } from '../../app/server.ts'
import { ActionError } from '../../ui/action-error.tsx'
import { Button } from '../../ui/button.tsx'
import { errorText } from '../../ui/error-text.ts'
import { Notice } from '../../ui/notice.tsx'
import { useAction } from '../../ui/use-action.ts'
import type { DataEntry } from './data-entries.ts'

/** Properties of {@link DataEdit}. */
export interface DataEditProps {
  entry: DataEntry
  /** The current value. Undefined if nothing was written. */
  value: unknown
  onClose: () => void
}

/** Edits a value as JSON. The edit is an ordinary message of the person. */
export function DataEdit({ entry, value, onClose }: DataEditProps) {
  const { client } = useServer()
  const conversation = useConversationId()
  const now = JSON.stringify(value ?? null, null, 2)
  const [before] = useState(now)
  const [text, setText] = useState(now)

  const { run, isBusy, error } = useAction(async (id: string) => {
    const { kind, instance } = entry
    const _instance = instance ?? undefined
    const edit = { kind, _instance, data: parseJson(text), _outputMethod: 'set' } as const
    await client.editData(id, edit)
    onClose()
  })
  function save(): void {
    if (conversation !== null) run(conversation)
  }

  return (
    <form
      aria-label={`Edit †${entry.identity}`}
      data-own-escape
      className="space-y-2"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose()
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save()
      }}
    >
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the person just asked to write here
        autoFocus
        aria-label="Value as JSON"
        dir="ltr"
        value={text}
        spellCheck={false}
        rows={Math.min(16, Math.max(3, text.split('\n').length))}
        onChange={(event) => setText(event.target.value)}
        className="block w-full resize-y rounded-md border border-line-strong bg-surface p-2 font-mono text-xs max-md:text-[1rem]"
      />
      {now !== before && !isBusy && (
        <Notice tone="warn" live>
          The value has changed since you began. If you save, yours replaces the new one.
        </Notice>
      )}
      <ActionError error={error} />
      <div className="flex flex-wrap items-center gap-2">
        <Button look="solid" type="submit" disabled={isBusy}>
          Save
        </Button>
        <Button look="outline" onClick={onClose}>
          Cancel
        </Button>
        <span className="text-xs text-ink-3">Agents see the change with their next step.</span>
      </div>
    </form>
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`This is not valid JSON: ${errorText(error).message}`)
  }
}
