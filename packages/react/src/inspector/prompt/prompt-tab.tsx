import { keepPreviousData } from '@tanstack/react-query'
import type { RunState } from 'byref/client'
import { ScanText } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useConversation, useConversationId } from '../../app/conversation-context.tsx'
import { useChangeView, useView } from '../../app/navigation.tsx'
import { useServer } from '../../app/server.ts'
import { useQuery } from '../../app/server-queries.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { formatCount } from '../../ui/format.ts'
import { LoadError } from '../../ui/load-error.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { JumpText } from '../jump-text.tsx'
import { PromptView } from './prompt-view.tsx'
import { type Step, StepSelect } from './step-select.tsx'

/** Renders exactly what the model saw at a step. */
export function PromptTab() {
  const runs = useConversation((state) => state.runs)
  const id = useConversationId()
  const { step } = useView()
  const [against, setAgainst] = useState<string | null>(null)
  const change = useChangeView()
  const steps = useMemo(() => stepsOf(runs), [runs])
  const current = steps.find(({ messageId }) => messageId === step) ?? steps.at(-1)
  if (id === null || !current) {
    return (
      <Empty icon={ScanText} title="No prompt yet">
        After the first answer, this tab shows exactly what the model saw at each step, and the size
        of each part.
      </Empty>
    )
  }
  return (
    <div className="space-y-3 p-3">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs">
        <StepSelect
          label="Step"
          steps={steps}
          value={current.messageId}
          onChange={(step) => change({ step: step ?? undefined }, { replace: true })}
        />
        <JumpText to={`m-${current.messageId}`}>Go to message</JumpText>
      </div>
      {steps.length > 1 && (
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs">
          <StepSelect
            label="Compare with"
            none="previous step"
            steps={steps.filter(({ messageId }) => messageId !== current.messageId)}
            value={against}
            onChange={setAgainst}
          />
        </div>
      )}
      <Prompt
        key={current.messageId}
        conversation={id}
        message={current.messageId}
        against={against === current.messageId ? null : against}
      />
    </div>
  )
}

/** The properties that prompts share. */
interface PromptProps {
  conversation: string
  message: string
  /** The step to compare with. Null is the previous one. */
  against: string | null
}

function Prompt({ conversation, message, against }: PromptProps) {
  const { client } = useServer()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['prompt', conversation, message, against],
    queryFn: () => client.prompt(conversation, message, { against: against ?? undefined }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })
  if (isPending) return <Spinner label="Loading the prompt" className="m-2" />
  if (error) return <LoadError what="The prompt" error={error} onRetry={() => void refetch()} />
  if (data) return <PromptView info={data} />
  return (
    <Notice
      tone="warn"
      actions={
        <Button look="outline" onClick={() => void refetch()}>
          Retry
        </Button>
      }
    >
      The prompt of this step is no longer stored.
    </Notice>
  )
}

/** Returns every step with an answer, and its name. */
function stepsOf(runs: readonly RunState[]): Step[] {
  return runs.flatMap((run, index) =>
    run.steps.flatMap(({ name, messageId, finishedAt, commandIds }) =>
      finishedAt === undefined || commandIds
        ? []
        : [{ messageId, label: `Run ${formatCount(index + 1)}, ${name}` }],
    ),
  )
}
