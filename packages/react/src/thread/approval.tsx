import {
  type ApprovalState,
  type Client,
  type ConversationState,
  isWithheld,
  waitingCalls,
} from 'byref/client'
import { useState } from 'react'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'
import { useMay } from '../app/role.ts'
import { useServer } from '../app/server.ts'
import { JsonTree } from '../json/json-tree.tsx'
import { isBranch } from '../json/tree-rows.ts'
import { EmbeddedAsset } from '../references/embedded-asset.tsx'
import { assetsNamedIn } from '../references/kinds.ts'
import { FlowReasons } from '../trust/flow-reasons.tsx'
import { GivenFrom } from '../trust/given-from.tsx'
import { WithheldValue } from '../trust/withheld-value.tsx'
import { ActionError } from '../ui/action-error.tsx'
import { Button } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { useAction } from '../ui/use-action.ts'
import { CallArguments } from './call-arguments.tsx'
import { CallPreviews } from './call-previews.tsx'
import { ArgumentsForm } from './changed-arguments.tsx'
import { readContent } from './read-content.ts'

type Result = Parameters<Client['approve']>[2]['result']

/** Properties of {@link Approval}. */
export interface ApprovalProps {
  callId: string
  name: string
  approval: ApprovalState
  /** What distinguishes the form from others on the page, for screen readers. */
  where?: string
}

/** Asks a person whether a call may run, and shows the arguments that will run. */
export function Approval({ callId, name, approval, where = '' }: ApprovalProps) {
  const { client } = useServer()
  const conversation = useConversationId()
  const mayDecide = useMay('member')
  const title = name + useConversation((state) => placeAmongWaiting(state, callId)) + where
  const isHidden = isWithheld(approval.arguments)
  const [text, setText] = useState('')
  const needsResult = approval.needsResult === true
  const [isChanging, setChanging] = useState(false)
  const [showsArguments, setShowsArguments] = useState(false)
  const { run, isBusy, result, error } = useAction(async (id: string, approved: boolean) => {
    const content = text.trim()
    const given = needsResult ? { result: readContent({ content }) as Result } : {}
    const details = approved ? given : { reason: content || undefined }
    await client.approve(id, callId, { approved, ...details })
    return 'sent'
  })
  // The card changes when the event is in the log.
  const isSent = isBusy || result === 'sent'

  if (isChanging && conversation !== null) {
    return (
      <>
        <FlowReasons tool={name} approval={approval} />
        <ArgumentsForm
          title={title}
          approval={approval}
          onCancel={() => setChanging(false)}
          onApprove={(changed) =>
            client.approve(conversation, callId, { approved: true, arguments: changed })
          }
        />
      </>
    )
  }

  function answer(approved: boolean): void {
    if (conversation !== null && !isSent) run(conversation, approved)
  }

  return (
    <form
      aria-label={`Approval of ${title}`}
      onSubmit={(event) => {
        event.preventDefault()
        answer(needsResult)
      }}
    >
      <FlowReasons tool={name} approval={approval} />
      {approval.reason && (
        <p dir="auto" className="px-2.5 pt-2 text-ink-2">
          {approval.reason}
        </p>
      )}
      {approval.previews && !isHidden ? (
        <>
          <CallPreviews previews={approval.previews} />
          <details
            onToggle={(event) => setShowsArguments(event.currentTarget.open)}
            className="border-t border-line"
          >
            <summary className="px-2.5 py-1.5 text-ink-2 pointer-coarse:py-2.5">Arguments</summary>
            {showsArguments && <Shown approval={approval} />}
          </details>
        </>
      ) : (
        <Shown approval={approval} />
      )}
      {!isHidden && <NamedFiles values={approval.items ?? approval.arguments} />}
      <GivenFrom callId={callId} approval={approval} />
      <ActionError what="Your answer was not accepted." error={error} className="mx-2.5 mb-2" />
      {mayDecide && !isHidden && (
        <Choices
          approval={approval}
          text={text}
          disabled={isSent}
          onText={setText}
          onAnswer={answer}
          onEdit={() => setChanging(true)}
        />
      )}
    </form>
  )
}

interface ChoicesProps {
  approval: ApprovalState
  /** The result of a call that needs one, or the reason for denying a call. */
  text: string
  disabled: boolean
  onText: (text: string) => void
  onAnswer: (approved: boolean) => void
  onEdit: () => void
}

/** Renders the buttons with which a person answers, and the field for a result or a reason. */
function Choices({ approval, text, disabled, onText, onAnswer, onEdit }: ChoicesProps) {
  const { needsResult, violations } = approval
  return (
    <div className="flex flex-wrap items-center gap-2 border-t border-line px-2.5 py-2">
      {needsResult ? (
        <Button look="solid" type="submit" disabled={disabled || text.trim() === ''}>
          Answer
        </Button>
      ) : (
        <>
          <Button
            // A call with unverified data should not look like the default choice.
            look={violations?.length ? 'outline' : 'solid'}
            disabled={disabled}
            onClick={() => onAnswer(true)}
          >
            Approve
          </Button>
          <Button look="outline" disabled={disabled} onClick={onEdit}>
            Edit
          </Button>
        </>
      )}
      <Button
        look="outline"
        type={needsResult ? 'button' : 'submit'}
        disabled={disabled}
        onClick={needsResult ? () => onAnswer(false) : undefined}
      >
        Deny
      </Button>
      <input
        dir="auto"
        value={text}
        onChange={(event) => onText(event.target.value)}
        disabled={disabled}
        aria-label={needsResult ? 'Your answer' : 'Reason for denying (optional)'}
        placeholder={needsResult ? 'Your answer, as text or JSON' : 'Why not? (optional)'}
        className="h-7 min-w-[min(12rem,100%)] flex-1 rounded-md border border-line-strong bg-surface px-2 text-sm placeholder:text-ink-3 max-md:text-[1rem] pointer-coarse:h-9"
      />
    </div>
  )
}

/** Returns which one of the waiting calls of its tool a call is. Empty for the only one. */
function placeAmongWaiting(state: ConversationState, callId: string): string {
  const all = waitingCalls(state)
  const own = all.find(({ id }) => id === callId)
  const waiting = all.filter(({ name }) => name === own?.name)
  if (!own || waiting.length < 2) return ''
  const number = waiting.indexOf(own) + 1
  return ` (${formatCount(number)} of ${formatCount(waiting.length)})`
}

/** Renders exactly what will run: the arguments, or those of each item of a mapped call. */
function Shown({ approval: { arguments: values, items } }: Pick<ApprovalProps, 'approval'>) {
  if (isWithheld(values)) {
    return (
      <div className="space-y-1 px-2.5 py-2">
        <WithheldValue value={values} />
        <p className="text-ink-2">Only a person who may read the arguments can answer.</p>
      </div>
    )
  }
  if (items) {
    return (
      <div className="space-y-1.5 px-2.5 py-2">
        <p className="text-ink-2">
          Will run {items.length === 1 ? 'once' : `${formatCount(items.length)} times`}, with these
          arguments:
        </p>
        <JsonTree
          value={items}
          label="Arguments of each item"
          className="max-h-80 overflow-auto rounded-md bg-sunken px-1.5 py-1"
        />
      </div>
    )
  }
  const isNamed = isBranch(values) && !Array.isArray(values)
  return (
    <CallArguments values={isNamed ? (values as Record<string, unknown>) : { value: values }} />
  )
}

/** Maximum number of files that are shown. */
const MOST_FILES = 12

/** Shows the files that the arguments name, because a person decides about their content. */
function NamedFiles({ values }: { values: unknown }) {
  const references = assetsNamedIn(values, MOST_FILES)
  if (references.length === 0) return null
  return (
    <ul aria-label="Files in the arguments" className="flex flex-wrap gap-2 px-2.5 pb-2">
      {references.map((reference) => (
        <li key={reference} className="max-w-full">
          <EmbeddedAsset reference={reference} imageClass="max-h-40" />
        </li>
      ))}
    </ul>
  )
}
