import { type ApprovalState, type ConversationState, isWithheld, waitingCalls } from 'byref/client'
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
import { Button } from '../ui/button.tsx'
import { errorText } from '../ui/error-text.ts'
import { formatCount } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { CallArguments } from './call-arguments.tsx'
import { CallPreviews } from './call-previews.tsx'
import { ArgumentsForm } from './changed-arguments.tsx'

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
  const [reason, setReason] = useState('')
  const [sent, setSent] = useState(false)
  const [problem, setProblem] = useState<{ code?: string; message: string } | null>(null)
  const [isChanging, setChanging] = useState(false)
  const [showsArguments, setShowsArguments] = useState(false)

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

  async function answer(approved: boolean): Promise<void> {
    if (conversation === null || sent) return
    setSent(true)
    setProblem(null)
    const why = approved || reason.trim() === '' ? undefined : reason.trim()
    try {
      // The card changes when the event is in the log.
      await client.approve(conversation, callId, { approved, reason: why })
    } catch (error) {
      setProblem(errorText(error))
      setSent(false)
    }
  }

  return (
    <form
      aria-label={`Approval of ${title}`}
      onSubmit={(event) => {
        event.preventDefault()
        void answer(false)
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
      {problem && (
        <Notice tone="bad" code={problem.code} live className="mx-2.5 mb-2">
          Your answer was not accepted. {problem.message}
        </Notice>
      )}
      {mayDecide && !isHidden && (
        <div className="flex flex-wrap items-center gap-2 border-t border-line px-2.5 py-2">
          <Button
            // A call with unverified data should not look like the default choice.
            look={approval.violations?.length ? 'outline' : 'solid'}
            disabled={sent}
            onClick={() => void answer(true)}
          >
            Approve
          </Button>
          <Button look="outline" disabled={sent} onClick={() => setChanging(true)}>
            Edit
          </Button>
          <Button look="outline" type="submit" disabled={sent}>
            Deny
          </Button>
          <input
            dir="auto"
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            disabled={sent}
            aria-label="Reason for denying (optional)"
            placeholder="Why not? (optional)"
            className="h-7 min-w-[min(12rem,100%)] flex-1 rounded-md border border-line-strong bg-surface px-2 text-sm placeholder:text-ink-3 max-md:text-[1rem] pointer-coarse:h-9"
          />
        </div>
      )}
    </form>
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
