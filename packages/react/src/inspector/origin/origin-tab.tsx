import { keepPreviousData } from '@tanstack/react-query'
import { parseVariableRef } from 'byref/client'
import { GitBranch } from 'lucide-react'
import { useConversation, useConversationId } from '../../app/conversation-context.tsx'
import { useView, ViewLink } from '../../app/navigation.tsx'
import { useServer } from '../../app/server.ts'
import { useQuery } from '../../app/server-queries.ts'
import { LabelMark } from '../../trust/label-mark.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { LoadError } from '../../ui/load-error.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { JumpText } from '../jump-text.tsx'
import { LineagePicture, nodeName } from './lineage-picture.tsx'
import type { LineageNodeInfo } from './lineage-rows.ts'

/** Renders where a value came from and where it was used. */
export function OriginTab() {
  const { client } = useServer()
  const conversation = useConversationId()
  const { origin } = useView()
  const position = useConversation((state) => state.messages.length + state.assets.length)
  const { data, error, refetch } = useQuery({
    queryKey: ['lineage', conversation, origin, position],
    queryFn: () => client.lineage(conversation as string, origin as string),
    enabled: conversation !== null && origin !== undefined,
    placeholderData: keepPreviousData,
  })
  if (origin === undefined || conversation === null) {
    return (
      <Empty icon={GitBranch} title="Where values come from">
        Open it from a label, a result, a file or a saved value.
      </Empty>
    )
  }
  if (error) {
    return (
      <div className="p-3">
        <LoadError what="The origin" error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  if (data === undefined) return <Spinner label="Loading the origin" className="m-4" />
  if (data === null) {
    return (
      <div className="p-3">
        <Notice tone="warn">
          Nothing in this conversation is called {origin}. It may have been deleted.
        </Notice>
      </div>
    )
  }
  const its = data.nodes.filter(({ id }) => data.of.includes(id))
  const name = its[0] ? nodeName(its[0]) : origin
  return (
    <div className="space-y-3 p-3">
      <header className="space-y-1">
        <div className="flex items-center gap-2">
          <h2 className="min-w-0 flex-1 truncate text-sm font-semibold">Where {name} came from</h2>
          <CopyButton label="Copy reference" text={its[0]?.ref ?? origin} />
        </div>
        {its.slice(0, 5).map((node) => (
          <p key={node.id} className="flex flex-wrap items-center gap-x-2 text-xs text-ink-3">
            <Place node={node} />
            <LabelMark label={node.label} />
          </p>
        ))}
        <p className="text-xs text-ink-3">
          Sources above, results below. The left arrow key goes to a source, the right one to a
          result.
        </p>
      </header>
      <LineagePicture lineage={data} name={name} />
    </div>
  )
}

/** Renders a link to the thing itself. */
function Place({ node: { id, type, ref } }: { node: LineageNodeInfo }) {
  const own = id.slice(id.indexOf(':') + 1)
  if (type === 'call') return <JumpText to={`call-${own}`}>Show the call</JumpText>
  if (type === 'message') return <JumpText to={`m-${own}`}>Show the message</JumpText>
  const look = 'rounded text-ring hover:underline'
  if (type === 'asset') {
    return (
      <ViewLink view={{ tab: 'assets', asset: own }} className={look}>
        Show the asset
      </ViewLink>
    )
  }
  const variable = ref === undefined ? null : parseVariableRef(ref)
  const data =
    variable?.type === 'variable'
      ? [variable.kind, variable.instance].filter(Boolean).join('#')
      : undefined
  return (
    <ViewLink view={{ tab: 'data', data }} className={look}>
      Show the data
    </ViewLink>
  )
}
