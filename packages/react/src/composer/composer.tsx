import { type ConversationState, isWithheld, readMetadata, waitingCalls } from 'byref/client'
import { ArrowUp, Paperclip, Square } from 'lucide-react'
import { type RefObject, useEffect, useRef } from 'react'
import { useConnection, useConversation, useConversationId } from '../app/conversation-context.tsx'
import { useMay } from '../app/role.ts'
import { useServer } from '../app/server.ts'
import { useMissingAgent } from '../app/use-serves-agent.ts'
import { useIsInterrupted } from '../thread/interrupted-run.tsx'
import { type RunPhase, runPhase } from '../thread/run-phase.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { attachmentsOf } from './attached-files.ts'
import { useDraft, useDraftPlace } from './drafts.ts'
import { DropZone } from './drop-zone.tsx'
import { MessageBox } from './message-box.tsx'
import { onSuggestion } from './suggestions.ts'
import { NextSuggestions, TableSuggestions } from './table-suggestions.tsx'
import { UploadChip } from './upload-chip.tsx'
import { UploadStatus } from './upload-status.tsx'
import { useSend } from './use-send.ts'
import { useUploads } from './use-uploads.ts'

const HINTS: Record<RunPhase, string> = {
  running: 'Answering…',
  waiting: 'Needs your approval: approve, edit or deny above',
  over: 'Enter to send, Shift+Enter for a new line',
}

const HINT_WHEN_INTERRUPTED = 'Interrupted. To continue, choose Resume above'

const HINT_FOR_OTHERS = 'Waits for a person who may read the arguments'

const HINT_WHILE_HELD = 'Sends when the files are uploaded…'

const HINT_WHILE_BUSY = 'Enter: send next · Ctrl+Enter: add now'

const HINT_WHILE_WAITING = 'Answered after your decision. To change the call, use Edit on its card'

/** Properties of {@link Composer}. */
export interface ComposerProps {
  /** Whether the message box gets the focus at first, unless a finger would open a keyboard. */
  autoFocus?: boolean
  /** Where files can be dropped. Default: anywhere on the page. */
  dropWithin?: RefObject<HTMLElement | null>
}

/** Renders the message form, or a hint for people who may only read. */
export function Composer(props: ComposerProps) {
  const { isOffline } = useServer()
  const mayWrite = useMay('member')
  const missing = useMissingAgent()
  if (mayWrite && missing === null) return <MessageForm {...props} />
  return (
    <p className="shrink-0 border-t border-line px-3 py-3 text-center text-xs text-ink-3">
      {isOffline
        ? 'This is a saved page. It has no server, so you cannot send messages.'
        : missing !== null && mayWrite
          ? `Read-only: the agent “${missing}” takes no messages on this server.`
          : 'Read-only. To write here, ask for member access.'}
    </p>
  )
}

/**
 * Sends text and files together. The first message of a new conversation creates it. During a run, a message waits for
 * its end or steers it.
 */
function MessageForm({ autoFocus = false, dropWithin }: ComposerProps) {
  const { client, tellError } = useServer()
  const id = useConversationId()
  const phase = useConversation(runPhase)
  const inbox = useConversation((state) => state.inbox)
  const running = phase !== 'over'
  const waits = phase === 'waiting'
  const isForOthers = useConversation(waitsForOthers)
  const isInterrupted = useIsInterrupted() && running
  const hint = isForOthers ? HINT_FOR_OTHERS : isInterrupted ? HINT_WHEN_INTERRUPTED : HINTS[phase]
  const { status } = useConnection()
  const place = useDraftPlace(id)
  const { status: sending, problem, send: sendMessage, release, dismissProblem } = useSend(place)
  const { uploads, add, restore, replace, retry, remove } = useUploads(place)
  const [text, setText] = useDraft(place)
  const box = useRef<HTMLTextAreaElement>(null)
  const files = useRef<HTMLInputElement>(null)

  const taking = useRef({ add, replace })
  taking.current = { add, replace }
  useEffect(
    () =>
      onSuggestion(id, (suggestion) => {
        if (suggestion.type === 'files') return files.current?.click()
        if (suggestion.type === 'attach') taking.current.add([suggestion.file])
        else if (suggestion.type === 'reference') {
          taking.current.replace(suggestion.asset, suggestion.replaces)
        } else setText(suggestion.text)
        box.current?.focus()
      }),
    [id, setText],
  )

  useEffect(() => {
    if (autoFocus) focusWithoutTouch(box.current)
  }, [autoFocus])

  const newTable = uploads.findLast(({ result }) => result?.table)?.result?.table
  const isUploading = uploads.some((upload) => upload.status === 'sending')
  const empty = text.trim() === '' && attachmentsOf(uploads).length === 0 && !isUploading
  const ready = !empty && sending === null && status !== 'closed'
  const busyHint = waits ? HINT_WHILE_WAITING : HINT_WHILE_BUSY

  // After a person's decision, the message and the result of the call are answered together.
  async function send(ifBusy: 'queue' | 'steer' = waits ? 'steer' : 'queue'): Promise<void> {
    if (ready) await sendMessage(ifBusy)
  }

  /** Puts a suggested question into the box. */
  function choose(question: string): void {
    setText(question)
    box.current?.focus()
  }

  /** Removes a file. A message that waited for it is no longer sent automatically. */
  function removeFile(key: number): void {
    if (sending === 'held') release()
    remove(key)
  }

  /** Stops the run. Queued messages do not start the next one: they return to the box. */
  async function stop(): Promise<void> {
    if (id === null) return
    try {
      await client.cancel(id, { discardQueued: true })
    } catch (error) {
      return tellError('The run was not stopped.', error)
    }
    const queued = inbox.map(({ message }) => message)
    const said = queued.flatMap(({ content }) => (typeof content === 'string' ? content : []))
    setText((unsent) => [...said, unsent].filter((one) => one.trim() !== '').join('\n\n'))
    restore(queued.flatMap((message) => readMetadata(message).attachments))
  }

  return (
    <div className="shrink-0 px-3 pb-3 sm:px-6 sm:pb-4">
      <DropZone onFiles={add} within={dropWithin} />
      <form
        className="mx-auto max-w-3xl"
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        {problem && (
          <Notice
            tone="bad"
            code={problem.code}
            live
            className="mb-2"
            actions={<Button onClick={() => dismissProblem()}>Dismiss</Button>}
          >
            {problem.isUnsure
              ? 'It may not have arrived. Your text is still here, and you can safely send it again.'
              : 'Not sent. Your text is still here.'}{' '}
            {problem.message}
          </Notice>
        )}
        {newTable && text === '' && !running && (
          <TableSuggestions assetId={newTable.assetId} onChoose={choose} />
        )}
        {uploads.length === 0 && text === '' && !running && <NextSuggestions onChoose={choose} />}
        <UploadStatus uploads={uploads} />
        <div className="rounded-xl border border-line-strong bg-raised shadow-sm focus-within:border-ink-3 has-[textarea:focus-visible]:border-ring has-[textarea:focus-visible]:ring-1 has-[textarea:focus-visible]:ring-ring">
          {uploads.length > 0 && (
            <ul
              aria-label="Files to send"
              className="flex max-h-[max(3.25rem,15vh)] flex-wrap gap-1.5 overflow-y-auto px-2.5 pt-2.5"
            >
              {uploads.map((upload) => (
                <UploadChip
                  key={upload.key}
                  upload={upload}
                  onRetry={() => retry(upload.key)}
                  onRemove={() => removeFile(upload.key)}
                />
              ))}
            </ul>
          )}
          <MessageBox
            ref={box}
            value={text}
            onChange={setText}
            onFiles={add}
            onSend={({ steers }) => void send(steers ? 'steer' : undefined)}
          />
          <div className="flex items-center gap-1 px-2 pb-2">
            <Button
              icon
              aria-label="Attach"
              title="Attach files"
              onClick={() => files.current?.click()}
            >
              <Paperclip aria-hidden />
            </Button>
            <input
              ref={files}
              type="file"
              multiple
              aria-label="Attach files"
              tabIndex={-1}
              className="sr-only"
              onChange={(event) => {
                add([...(event.target.files ?? [])])
                event.target.value = ''
                focusWithoutTouch(box.current)
              }}
            />
            <span className="ms-auto min-w-0 truncate pe-1 text-2xs text-ink-3 max-sm:invisible">
              {sending === 'held' ? HINT_WHILE_HELD : running && !empty ? busyHint : hint}
            </span>
            {running && (
              <Button
                look={empty ? 'solid' : 'outline'}
                icon
                aria-label="Stop"
                title={
                  inbox.length > 0
                    ? 'Stop the run, and take queued messages back into this box'
                    : 'Stop the run'
                }
                onClick={() => void stop()}
                className="rounded-lg"
              >
                <Square className="fill-current" aria-hidden />
              </Button>
            )}
            {running && !waits && !empty && (
              <Button
                look="outline"
                disabled={!ready}
                title="Add it to this run, at its next step (Ctrl+Enter)"
                onClick={() => void send('steer')}
                className="rounded-lg"
              >
                Add now
              </Button>
            )}
            {(!running || !empty) && (
              <Button
                look="solid"
                icon={!running}
                type="submit"
                aria-label={running ? undefined : 'Send'}
                title={running && !waits ? 'Send when this run is over (Enter)' : 'Send'}
                disabled={!ready}
                className="rounded-lg"
              >
                {sending ? (
                  <Spinner className="text-solid-ink" />
                ) : running ? (
                  waits ? (
                    'Send'
                  ) : (
                    'Send next'
                  )
                ) : (
                  <ArrowUp aria-hidden />
                )}
              </Button>
            )}
          </div>
        </div>
      </form>
    </div>
  )
}

/** Whether the run waits only for approvals of calls whose arguments this person may not read. */
function waitsForOthers(state: ConversationState): boolean {
  const waiting = runPhase(state) === 'waiting' ? waitingCalls(state) : []
  return waiting.length > 0 && waiting.every(({ approval }) => isWithheld(approval.arguments))
}

/** Focuses an element, except where that would open the keyboard of a touch screen. */
function focusWithoutTouch(element: HTMLElement | null): void {
  if (matchMedia('(pointer: fine)').matches) element?.focus()
}
