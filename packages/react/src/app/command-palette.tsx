import { useNavigate, useParams } from '@tanstack/react-router'
import { Command, defaultFilter, useCommandState } from 'cmdk'
import {
  ChartColumn,
  Download,
  FileDown,
  GitFork,
  MessageSquare,
  PanelLeft,
  PanelRight,
  Pencil,
  SquarePen,
  SunMoon,
  Trash2,
} from 'lucide-react'
import { Modal } from '../ui/modal.tsx'
import { useExportConversation, useForkConversation } from './conversation-actions.ts'
import type { ConversationQuestion } from './conversation-dialog.tsx'
import { markTwins } from './mark-twins.ts'
import { useChangeView } from './navigation.tsx'
import { setPanel, usePanel } from './panels.ts'
import { useMay } from './role.ts'
import { useServer } from './server.ts'
import { useInfiniteQuery } from './server-queries.ts'
import { setTheme, toggleTheme } from './theme.ts'
import { useServesAgent } from './use-serves-agent.ts'
import { TAB_TITLES, TABS } from './view.ts'

/** Renders the command palette, which finds every action of the app by a part of its name. */
export function CommandPalette({
  onClose,
  onAsk,
}: {
  onClose: () => void
  /** Asks a question about the open conversation. */
  onAsk: (question: ConversationQuestion) => void
}) {
  const { conversationsQuery, hasFiles, isOffline } = useServer()
  const navigate = useNavigate()
  const change = useChangeView()
  const { conversationId } = useParams({ strict: false })
  const { data: conversations = [] } = useInfiniteQuery(conversationsQuery())
  const marks = markTwins(conversations)
  const isServed = useServesAgent(conversations.find(({ id }) => id === conversationId)?.agent)
  const fork = useForkConversation()
  const download = useExportConversation()
  const mayWrite = useMay('member')
  const mayDelete = useMay('owner')
  const sidebar = usePanel('conversations')
  const inspector = usePanel('inspector')
  const run = (act: () => unknown) => () => {
    onClose()
    act()
  }
  return (
    <Modal
      title="Commands"
      focusFirst
      onClose={onClose}
      className="inset-x-3 top-[14vh] mx-auto max-w-lg animate-appear overflow-hidden rounded-xl"
    >
      <Command loop label="Commands" filter={filter}>
        <Command.Input
          autoFocus
          dir="auto"
          placeholder="Type a command or a conversation…"
          className="h-12 w-full border-b border-line bg-transparent px-4 text-base focus-visible:border-ring focus-visible:inset-shadow-[0_-1px_var(--byref-ring)] focus-visible:outline-hidden placeholder:text-ink-3 max-md:text-[1rem]"
        />
        <Command.Empty className="px-3 py-8 text-center text-sm text-ink-3">
          Nothing found.
        </Command.Empty>
        <Results>
          <Group heading="Go">
            <Item icon={SquarePen} onSelect={run(() => navigate({ to: '/' }))}>
              New conversation
            </Item>
            {!isOffline && (
              <Item icon={ChartColumn} onSelect={run(() => navigate({ to: '/runs' }))}>
                Runs and costs
              </Item>
            )}
            {conversationId !== undefined &&
              TABS.filter((tab) => tab !== 'origin').map((tab) => (
                <Item
                  key={tab}
                  icon={PanelRight}
                  onSelect={run(() => {
                    change({ tab })
                    setPanel('inspector', true)
                  })}
                >
                  Inspector: {TAB_TITLES[tab]}
                </Item>
              ))}
          </Group>
          {conversationId !== undefined && !isOffline && (
            <Group heading="This conversation">
              {mayWrite && (
                <>
                  <Item icon={Pencil} onSelect={run(() => onAsk('rename'))}>
                    Rename…
                  </Item>
                  {isServed && (
                    <Item icon={GitFork} onSelect={run(() => fork(conversationId))}>
                      Fork
                    </Item>
                  )}
                </>
              )}
              <Item icon={Download} onSelect={run(() => download(conversationId))}>
                Export data
              </Item>
              {hasFiles && (
                <Item icon={FileDown} onSelect={run(() => onAsk('save-page'))}>
                  Save as HTML…
                </Item>
              )}
              {mayDelete && (
                <Item icon={Trash2} onSelect={run(() => onAsk('delete'))}>
                  Delete…
                </Item>
              )}
            </Group>
          )}
          <Group heading="View">
            <Item icon={SunMoon} onSelect={run(toggleTheme)}>
              Toggle theme
            </Item>
            <Item icon={SunMoon} onSelect={run(() => setTheme('system'))}>
              Use the system’s theme
            </Item>
            <Item icon={PanelLeft} onSelect={run(() => setPanel('conversations', !sidebar))}>
              {sidebar ? 'Hide' : 'Show'} conversations
            </Item>
            <Item icon={PanelRight} onSelect={run(() => setPanel('inspector', !inspector))}>
              {inspector ? 'Hide' : 'Show'} inspector
            </Item>
          </Group>
          {conversations.length > 0 && (
            <Group heading="Conversations">
              {conversations.map(({ id, title }) => (
                <Item
                  key={id}
                  value={`${title || 'Untitled'}\n${id}`}
                  icon={MessageSquare}
                  onSelect={run(() =>
                    navigate({ to: '/c/$conversationId', params: { conversationId: id } }),
                  )}
                >
                  {[title || 'Untitled', marks.get(id)].filter(Boolean).join(' · ')}
                </Item>
              ))}
            </Group>
          )}
        </Results>
      </Command>
    </Modal>
  )
}

/** Rates a command by its title. Below it may be an id, which a person does not search for. */
function filter(value: string, search: string): number {
  return defaultFilter(value.split('\n', 1)[0] ?? '', search)
}

/** Renders the list of commands. A list without any would have no name for screen readers. */
function Results({ children }: { children: React.ReactNode }) {
  const count = useCommandState(({ filtered }) => filtered.count)
  return (
    <Command.List
      label="Commands"
      hidden={count === 0}
      className="max-h-[min(20rem,60vh)] overflow-y-auto p-1.5"
    >
      {children}
    </Command.List>
  )
}

function Group({ heading, children }: { heading: string; children: React.ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-2xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-ink-3"
    >
      {children}
    </Command.Group>
  )
}

function Item({
  icon: Icon,
  children,
  ...rest
}: {
  icon: typeof SunMoon
  onSelect: () => void
  value?: string
  children: React.ReactNode
}) {
  return (
    <Command.Item
      {...rest}
      className="flex h-9 cursor-pointer items-center gap-2.5 rounded-lg px-2.5 text-sm data-[selected=true]:bg-hover data-[selected=true]:inset-ring data-[selected=true]:inset-ring-ink-3"
    >
      <Icon className="size-4 shrink-0 text-ink-3" aria-hidden />
      <span dir="auto" className="truncate">
        {children}
      </span>
    </Command.Item>
  )
}
