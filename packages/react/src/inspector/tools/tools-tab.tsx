import { keepPreviousData } from '@tanstack/react-query'
import type { ToolLine as Line, Message, ToolsList } from 'byref/client'
import { Wrench } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { useConversation, useConversationId } from '../../app/conversation-context.tsx'
import { useChangeView, useView } from '../../app/navigation.tsx'
import { useServer } from '../../app/server.ts'
import { useQuery } from '../../app/server-queries.ts'
import { useSettled } from '../../app/use-settled.ts'
import { ledgerOf } from '../../thread/ledger.ts'
import { BYTES_PER_TOKEN } from '../../thread/saved.ts'
import { Empty } from '../../ui/empty.tsx'
import { formatCount } from '../../ui/format.ts'
import { LoadError } from '../../ui/load-error.tsx'
import { More } from '../../ui/more.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { Section } from '../section.tsx'
import { ToolLine } from './tool-line.tsx'

const SELECT =
  'h-8 min-w-0 rounded-md border border-line-strong bg-surface px-2 text-sm pointer-coarse:h-10'

/** Renders the tools of the conversation's agent, and what a search of the model finds. */
export function ToolsTab() {
  const { infoQuery, conversationQuery } = useServer()
  const id = useConversationId()
  const view = useView()
  const change = useChangeView()
  const { data: info } = useQuery(infoQuery)
  const { data: conversation, isLoading } = useQuery({
    ...conversationQuery(id ?? ''),
    enabled: id !== null,
  })
  const names = info?.agents.map(({ name }) => name) ?? []
  const asked = [view.agent, conversation?.agent].find((name) => name && names.includes(name))
  const agent = asked ?? names[0]
  if (!info || isLoading) {
    return <Spinner label="Loading the tools" className="m-4" />
  }
  if (agent === undefined) return <NoTools />
  return (
    <div className="space-y-3 p-3">
      {names.length > 1 && (
        <label className="flex items-center gap-2 text-xs text-ink-2">
          Agent
          <select
            value={agent}
            onChange={({ target }) =>
              change({ agent: target.value, tool: undefined }, { replace: true })
            }
            className={`${SELECT} flex-1`}
          >
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      <Tools key={agent} agent={agent} />
    </div>
  )
}

function NoTools() {
  return (
    <Empty icon={Wrench} title="No tools">
      The tools that the agent can call appear here.
    </Empty>
  )
}

function Tools({ agent }: { agent: string }) {
  const { client } = useServer()
  const { query = '' } = useView()
  const change = useChangeView()
  const [text, setText] = useState(query)
  const [group, setGroup] = useState<string>()
  const searched = useSettled(text).trim()
  const all = useQuery({
    queryKey: ['tools', agent],
    queryFn: () => client.tools({ agent }),
    staleTime: 60_000,
  })
  const found = useQuery({
    queryKey: ['tools', agent, group, searched],
    queryFn: () => client.tools({ agent, query: searched, group }),
    enabled: searched !== '',
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
  const failed = all.error ?? found.error
  if (failed) {
    const retry = () => void (all.error ? all.refetch() : found.refetch())
    return <LoadError what="The tools" error={failed} onRetry={retry} />
  }
  if (!all.data) return <Spinner label="Loading the tools" className="m-2" />
  if (all.data.tools.length === 0) return <NoTools />
  const { tools } = all.data
  return (
    <>
      <Summary tools={tools} />
      <div className="space-y-1.5">
        <SearchField
          label="Search tools as the model does"
          placeholder="Search as the model does"
          value={text}
          onChange={(next) => {
            setText(next)
            change({ query: next.trim() || undefined }, { replace: true })
          }}
        />
        <Groups tools={tools} value={group} onChange={setGroup} />
      </div>
      {searched === '' ? (
        <ToolLines
          label="Tools"
          agent={agent}
          tools={tools.filter((tool) => group === undefined || tool.group === group)}
          all={tools}
        />
      ) : found.data ? (
        <Found agent={agent} found={found.data} all={tools} searched={searched} />
      ) : (
        <Spinner label="Searching" className="m-2" />
      )}
    </>
  )
}

const isDeferred = ({ shown }: Line) => shown === 'search'

const tokensOf = (tools: readonly Line[]) =>
  formatCount(Math.round(tools.reduce((sum, { bytes }) => sum + bytes, 0) / BYTES_PER_TOKEN))

/** Says how many tools there are, and what they cost. */
function Summary({ tools }: { tools: readonly Line[] }) {
  const hidden = tools.filter(isDeferred)
  const rest = tools.filter(({ shown }) => shown !== 'search')
  if (hidden.length === 0) {
    return (
      <p className="text-xs text-ink-2 tabular-nums">
        {formatCount(tools.length)} tools, about {tokensOf(tools)} tokens of schemas in every
        prompt.
      </p>
    )
  }
  return (
    <p className="text-xs text-ink-2 tabular-nums">
      {formatCount(rest.length)} tools in prompts, about {tokensOf(rest)} tokens.{' '}
      {formatCount(hidden.length)} found by search, about {tokensOf(hidden)} tokens.
    </p>
  )
}

function Groups({
  tools,
  value,
  onChange,
}: {
  tools: readonly Line[]
  value: string | undefined
  onChange: (group: string | undefined) => void
}) {
  const groups = useMemo(() => {
    const byGroup = Object.groupBy(tools, ({ group }) => group ?? '')
    const sizes = Object.entries(byGroup).map(([name, some = []]) => [name, some.length] as const)
    return sizes.filter(([name]) => name !== '').toSorted(([, a], [, b]) => b - a)
  }, [tools])
  if (groups.length < 2) return null
  return (
    <select
      aria-label="Group"
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value || undefined)}
      className={`${SELECT} w-full`}
    >
      <option value="">All groups</option>
      {groups.map(([name, count]) => (
        <option key={name} value={name}>
          {name} ({formatCount(count)})
        </option>
      ))}
    </select>
  )
}

/** Renders what a search finds: what the model gets, what fits less, and what is not searched. */
function Found({
  agent,
  found: { tools, search },
  all,
  searched,
}: {
  agent: string
  found: ToolsList
  all: readonly Line[]
  searched: string
}) {
  const returned = search?.returned ?? 0
  const words = search?.words ?? []
  const missing = words.filter((word) => word.tools === 0)
  const others = all.filter(
    ({ name, group }) => group === null && name.toLowerCase().includes(searched.toLowerCase()),
  )
  return (
    <>
      <div role="status" className="space-y-1 text-xs text-ink-2">
        <p>{countsOf(tools.length, returned, all.some(isDeferred))}</p>
        {missing.length > 0 && (
          <p className="text-warn">
            No tool has {missing.map(({ word }) => `“${word}”`).join(', ')}. The search reads names,
            descriptions and parameters.
          </p>
        )}
      </div>
      {returned > 0 && (
        <Section title="What the model gets">
          <ToolLines
            label="What the model gets"
            agent={agent}
            tools={tools.slice(0, returned)}
            all={all}
          />
        </Section>
      )}
      {tools.length > returned && (
        <Section title="Fits less">
          <ToolLines label="Fits less" agent={agent} tools={tools.slice(returned)} all={all} />
        </Section>
      )}
      {others.length > 0 && (
        <Section title="Not searched, because prompts have them">
          <ToolLines label="Not searched" agent={agent} tools={others} all={all} />
        </Section>
      )}
    </>
  )
}

/** Says how many tools fit, and how many of them a model gets. */
function countsOf(fitting: number, returned: number, isSearched: boolean): string {
  const model = isSearched ? 'The model gets' : 'All tools are in prompts. A search would return'
  if (fitting === 0) return 'No tool fits.'
  if (fitting === 1) return `1 tool fits. ${model} it.`
  const fit = `${formatCount(fitting)} tools fit. ${model}`
  if (returned === fitting) return `${fit} all of them.`
  return `${fit} the first ${formatCount(returned)}, unless ${isSearched ? 'it' : 'the model'} asks for more.`
}

/** Number of tools that are drawn at a time. */
const PAGE = 60

function ToolLines({
  label,
  agent,
  tools,
  all,
}: {
  label: string
  agent: string
  tools: readonly Line[]
  /** All tools of the agent. */
  all: readonly Line[]
}): ReactNode {
  const { tool: open } = useView()
  const change = useChangeView()
  const messages = useConversation((state) => state.messages)
  const calls = useMemo(() => callsByTool(messages), [messages])
  const [most, setMost] = useState(PAGE)
  // A link may open any tool.
  const linked = tools.findIndex(({ name }) => name === open)
  const shown = linked < most ? most : linked + PAGE
  const isSearched = all.some(isDeferred)
  return (
    <>
      <ol aria-label={label}>
        {tools.slice(0, shown).map((tool) => (
          <ToolLine
            key={tool.name}
            tool={tool}
            agent={agent}
            calls={calls.get(tool.name) ?? []}
            isSearched={isSearched}
            isOpen={tool.name === open}
            onToggle={() =>
              change({ tool: tool.name === open ? undefined : tool.name }, { replace: true })
            }
          />
        ))}
      </ol>
      <More
        what="tools"
        count={Math.max(0, tools.length - shown)}
        onReach={() => setMost(shown + PAGE)}
      />
    </>
  )
}

/** Returns the ids of the calls of each tool. */
function callsByTool(messages: readonly Message[]): ReadonlyMap<string, string[]> {
  const calls = new Map<string, string[]>()
  for (const [id, { announced }] of ledgerOf(messages)) {
    for (const { call } of announced) calls.set(call.name, [...(calls.get(call.name) ?? []), id])
  }
  return calls
}
