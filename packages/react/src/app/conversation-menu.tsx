import type { ConversationSummary } from 'byref/client'
import { Download, Ellipsis, FileDown, GitFork, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Menu, MenuItem, MenuRule } from '../ui/menu.tsx'
import { useExportConversation, useForkConversation } from './conversation-actions.ts'
import { ConversationDialog, type ConversationQuestion } from './conversation-dialog.tsx'
import { useMay } from './role.ts'
import { useServer } from './server.ts'
import { useServesAgent } from './use-serves-agent.ts'

/** Properties of {@link ConversationMenu}. */
export interface ConversationMenuProps {
  conversation: ConversationSummary
  onRename: () => void
}

/** Renders the menu of a conversation: rename, fork, export, delete. */
export function ConversationMenu({ conversation, onRename }: ConversationMenuProps) {
  const { id, title } = conversation
  const [question, setQuestion] = useState<ConversationQuestion | null>(null)
  const { hasFiles } = useServer()
  const fork = useForkConversation()
  const download = useExportConversation()
  const mayWrite = useMay('member')
  const isServed = useServesAgent(conversation.agent)
  const mayDelete = useMay('owner')
  const name = title || 'Untitled'

  return (
    <>
      <Menu
        className="absolute inset-e-0.5"
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
            {isServed && (
              <MenuItem icon={GitFork} onSelect={() => void fork(id)}>
                Fork
              </MenuItem>
            )}
          </>
        )}
        <MenuItem icon={Download} hint="JSON Lines" onSelect={() => download(id)}>
          Export data
        </MenuItem>
        {hasFiles && (
          <MenuItem icon={FileDown} hint="One HTML file" onSelect={() => setQuestion('save-page')}>
            Save as HTML…
          </MenuItem>
        )}
        {mayDelete && (
          <>
            <MenuRule />
            <MenuItem icon={Trash2} danger onSelect={() => setQuestion('delete')}>
              Delete…
            </MenuItem>
          </>
        )}
      </Menu>
      {question && (
        <ConversationDialog
          question={question}
          conversation={conversation}
          onClose={() => setQuestion(null)}
        />
      )}
    </>
  )
}
