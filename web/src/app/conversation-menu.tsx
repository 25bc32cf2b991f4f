import { useNavigate, useParams } from '@tanstack/react-router'
import type { ConversationSummary } from 'byref/client'
import { Download, Ellipsis, FileDown, GitFork, Pencil, Trash2 } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { formatCount } from '../ui/format.ts'
import { Menu, MenuItem, MenuRule } from '../ui/menu.tsx'
import { tellError } from '../ui/toasts.tsx'
import { client, forgetConversations } from './client.ts'
import { useMay } from './role.ts'

const SavePageDialog = lazy(async () => ({
  default: (await import('./save-page-dialog.tsx')).SavePageDialog,
}))

/** Properties of {@link ConversationMenu}. */
export interface ConversationMenuProps {
  conversation: ConversationSummary
  onRename: () => void
}

/** What can be done with a conversation as a whole: rename, fork, export, delete. */
export function ConversationMenu({ conversation, onRename }: ConversationMenuProps) {
  const { id, title, messages } = conversation
  const navigate = useNavigate()
  const [asksToDelete, setAsksToDelete] = useState(false)
  const [savesPage, setSavesPage] = useState(false)
  const mayWrite = useMay('member')
  const mayDelete = useMay('owner')
  const name = title || 'Untitled'
  const isCurrent = useParams({
    strict: false,
    select: ({ conversationId }) => conversationId === id,
  })

  async function fork(): Promise<void> {
    try {
      const made = await client.forkConversation(id)
      forgetConversations()
      await navigate({ to: '/c/$conversationId', params: { conversationId: made.id } })
    } catch (error) {
      tellError('It was not forked, and nothing was changed.', error)
    }
  }

  async function remove(): Promise<void> {
    await client.deleteConversation(id)
    if (isCurrent) await navigate({ to: '/' })
    forgetConversations()
  }

  return (
    <>
      <Menu
        className="absolute right-0.5"
        trigger={
          <Button
            icon
            aria-label={`Actions for ${name}`}
            className="bg-hover text-ink-3 opacity-0 group-focus-within/line:opacity-100 group-hover/line:opacity-100 data-[state=open]:opacity-100 pointer-coarse:bg-transparent pointer-coarse:opacity-100"
          >
            <Ellipsis aria-hidden />
          </Button>
        }
      >
        {mayWrite && (
          <>
            <MenuItem icon={Pencil} onSelect={onRename}>
              Rename
            </MenuItem>
            <MenuItem icon={GitFork} onSelect={() => void fork()}>
              Fork
            </MenuItem>
          </>
        )}
        <MenuItem icon={Download} hint="As lines of JSON" onSelect={() => save(id)}>
          Export
        </MenuItem>
        <MenuItem icon={FileDown} hint="One HTML file" onSelect={() => setSavesPage(true)}>
          Save as a page…
        </MenuItem>
        {mayDelete && (
          <>
            <MenuRule />
            <MenuItem icon={Trash2} danger onSelect={() => setAsksToDelete(true)}>
              Delete…
            </MenuItem>
          </>
        )}
      </Menu>
      {savesPage && (
        <Suspense>
          <SavePageDialog conversation={id} name={name} onClose={() => setSavesPage(false)} />
        </Suspense>
      )}
      {asksToDelete && (
        <Confirm
          title="Delete this conversation?"
          action="Delete"
          onConfirm={remove}
          onClose={() => setAsksToDelete(false)}
        >
          “{name}” with its {messages === 1 ? 'one message' : `${formatCount(messages)} messages`}{' '}
          and their debug data is deleted for everybody. This cannot be undone: export it first to
          keep a copy.
        </Confirm>
      )}
    </>
  )
}

/** The browser saves the export while it comes. */
function save(id: string): void {
  const link = document.createElement('a')
  link.href = `/api/conversations/${encodeURIComponent(id)}/export`
  link.download = 'conversation.jsonl'
  link.click()
}
