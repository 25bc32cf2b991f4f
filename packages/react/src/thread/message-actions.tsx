import type { Message } from 'byref/client'
import { readMetadata } from 'byref/client'
import { Bug, Copy, Ellipsis, History, Link2, Pencil, RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useOpenNew, useRetry } from '../app/conversation-actions.ts'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'
import { useChangeView, useNavigation } from '../app/navigation.tsx'
import { useMay, useSeesDebug } from '../app/role.ts'
import { useServer } from '../app/server.ts'
import { useMissingAgent } from '../app/use-serves-agent.ts'
import { Button } from '../ui/button.tsx'
import { cn } from '../ui/cn.ts'
import { Confirm } from '../ui/confirm.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Menu, MenuItem, MenuRule } from '../ui/menu.tsx'
import { runPhase } from './run-phase.ts'
import { isSaidByPerson, saidBefore } from './say-again.ts'

/** Properties of {@link MessageActions}. */
export interface MessageActionsProps {
  message: Message
  /** The last message that belongs to it, which a rewind keeps. Default: the message itself. */
  last?: Message
  /** Whether the message has a header with room for the button. Default: true. */
  header?: boolean
  /** Opens the message for editing. Absent if it cannot be edited. */
  onEdit?: () => void
}

/** Renders the actions of a message: a button at its corner with a menu, also for the keyboard. */
export function MessageActions({
  message,
  last = message,
  header = true,
  onEdit,
}: MessageActionsProps) {
  const { client } = useServer()
  const conversation = useConversationId()
  const [asksToDelete, setAsksToDelete] = useState(false)
  const change = useChangeView()
  const maySeeDebug = useSeesDebug() && readMetadata(message).hasDebug
  if (conversation === null) return null
  const { content, id } = message
  return (
    <div
      className={cn(
        // Without a header it is above the text, which it would cover otherwise.
        header ? '-top-1' : '-top-6 pointer-coarse:-top-1',
        'absolute inset-e-0 flex rounded-md bg-raised opacity-0 ring-1 ring-line group-focus-within/message:opacity-100 group-hover/message:opacity-100 has-data-[state=open]:opacity-100 pointer-coarse:bg-transparent pointer-coarse:opacity-100 pointer-coarse:ring-0',
      )}
    >
      {typeof content === 'string' && content !== '' && (
        <CopyButton label="Copy text" text={content} className="text-ink-3 pointer-coarse:hidden" />
      )}
      {maySeeDebug && (
        <Button
          icon
          aria-label="Debug"
          title="Debug data"
          onClick={() => change({ debug: '' }, { hash: `m-${id}` })}
          className="text-ink-3 pointer-coarse:hidden"
        >
          <Bug aria-hidden />
        </Button>
      )}
      <Menu
        trigger={
          <Button icon aria-label="Message actions" className="text-ink-3">
            <Ellipsis aria-hidden />
          </Button>
        }
      >
        <Items
          message={message}
          last={last}
          conversation={conversation}
          onEdit={onEdit}
          onDelete={() => setAsksToDelete(true)}
        />
      </Menu>
      {asksToDelete && (
        <Confirm
          title="Delete this message?"
          action="Delete"
          onConfirm={() => client.deleteMessage(conversation, message.id)}
          onClose={() => setAsksToDelete(false)}
        >
          Its content and its debug data are deleted for everybody. This cannot be undone.
        </Confirm>
      )}
    </div>
  )
}

function Items({
  message,
  last = message,
  conversation,
  onEdit,
  onDelete,
}: MessageActionsProps & { conversation: string; onDelete: () => void }) {
  const { client, tellError } = useServer()
  const { addressOf, opensOthers } = useNavigation()
  const openNew = useOpenNew()
  const retry = useRetry()
  const change = useChangeView()
  const mayWrite = useMay('member')
  const isServed = useMissingAgent() === null
  const mayDelete = useMay('owner')
  const isOver = useConversation(runPhase) === 'over'
  const asked = useConversation((state) => saidBefore(state.messages, message))
  const isQueued = useConversation(({ inbox }) =>
    inbox.some((one) => one.message.id === message.id),
  )
  const maySeeDebug = useSeesDebug() && readMetadata(message).hasDebug
  const { content, id } = message
  const isText = typeof content === 'string' && content !== ''

  async function attempt(action: Promise<void>): Promise<void> {
    try {
      await action
    } catch (error) {
      tellError('That failed, and nothing was changed.', error)
    }
  }

  const rewind = async () =>
    openNew((await client.forkConversation(conversation, { at: last.id })).id)
  async function copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text)
    } catch (error) {
      tellError('The browser did not allow copying.', error)
    }
  }

  const address = addressOf(`m-${id}`)
  return (
    <>
      {isText && (
        <MenuItem icon={Copy} onSelect={() => void copy(content)}>
          Copy text
        </MenuItem>
      )}
      {address !== null && (
        <MenuItem icon={Link2} onSelect={() => void copy(address)}>
          Copy link
        </MenuItem>
      )}
      {maySeeDebug && (
        <MenuItem icon={Bug} onSelect={() => change({ debug: '' }, { hash: `m-${id}` })}>
          Debug data
        </MenuItem>
      )}
      {mayWrite && opensOthers && isServed && (
        <>
          <MenuRule />
          {asked && (
            <MenuItem icon={RotateCcw} onSelect={() => void attempt(retry(conversation, asked.id))}>
              Try again
            </MenuItem>
          )}
          {onEdit && isText && isSaidByPerson(message) && (
            <MenuItem icon={Pencil} onSelect={onEdit}>
              Edit and continue from here
            </MenuItem>
          )}
          {/* A queued message is not a part of the conversation yet. */}
          {!isQueued && (
            <MenuItem
              icon={History}
              hint="A new conversation"
              onSelect={() => void attempt(rewind())}
            >
              Rewind to here
            </MenuItem>
          )}
        </>
      )}
      {mayDelete && (
        <>
          <MenuRule />
          <MenuItem
            icon={Trash2}
            danger
            disabled={!isOver}
            hint={isOver ? undefined : 'Not during a run'}
            onSelect={onDelete}
          >
            Delete…
          </MenuItem>
        </>
      )}
    </>
  )
}
