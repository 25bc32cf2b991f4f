import { X } from 'lucide-react'
import { Tabs } from 'radix-ui'
import { useEffect, useRef } from 'react'
import { useConnection, useLoaded } from '../app/conversation-context.tsx'
import { useNavigation, useView } from '../app/navigation.tsx'
import { useMay } from '../app/role.ts'
import { TAB_TITLES, TABS, type Tab } from '../app/view.ts'
import { Button } from '../ui/button.tsx'
import { lazyPart } from '../ui/lazy-part.tsx'
import { Spinner } from '../ui/spinner.tsx'

const tab = (load: Parameters<typeof lazyPart>[0]) =>
  lazyPart(load, () => <Spinner label="Loading" className="m-4" />)

const CONTENTS = {
  assets: tab(async () => (await import('./assets/assets-tab.tsx')).AssetsTab),
  data: tab(async () => (await import('./data/data-tab.tsx')).DataTab),
  run: tab(async () => (await import('./run/run-tab.tsx')).RunTab),
  prompt: tab(async () => (await import('./prompt/prompt-tab.tsx')).PromptTab),
  tools: tab(async () => (await import('./tools/tools-tab.tsx')).ToolsTab),
  message: tab(async () => (await import('./message/message-tab.tsx')).MessageTab),
  checks: tab(async () => (await import('./checks/checks-tab.tsx')).ChecksTab),
  origin: tab(async () => (await import('./origin/origin-tab.tsx')).OriginTab),
}

/** Renders the third pane, with the data behind the conversation in tabs. The tab is part of the address. */
export function Inspector() {
  const view = useView()
  // Users whose role cannot see prompts do not have these tabs.
  const seesPrompts = useMay('member')
  const isThere: Partial<Record<Tab, boolean>> = {
    prompt: seesPrompts,
    tools: seesPrompts,
    // The tab shows one value, and is opened from there.
    origin: view.origin !== undefined,
  }
  const tabs = TABS.filter((name) => isThere[name] ?? true)
  const loaded = useLoaded()
  const tab = tabs.find((name) => name === view.tab) ?? 'assets'
  const { change, closeInspector } = useNavigation()
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const chosen = list.current?.querySelector(`[data-tab=${tab}]`)
    chosen?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [tab])
  return (
    <Tabs.Root
      value={tab}
      onValueChange={(next) => change({ tab: next as Tab }, { replace: true })}
      asChild
    >
      <div className="flex h-full min-h-0 w-full flex-col border-s border-line bg-surface">
        <div className="flex h-12 shrink-0 items-center border-b border-line pe-2 ps-3 max-sm:pe-1 max-sm:ps-1.5">
          <Tabs.List
            ref={list}
            aria-label="Inspector"
            className="flex h-full min-w-0 gap-0.5 overflow-x-auto max-sm:gap-0"
          >
            {tabs.map((name) => (
              <Tabs.Trigger
                key={name}
                value={name}
                data-tab={name}
                className="relative h-full px-1.5 text-sm whitespace-nowrap text-ink-3 max-sm:px-1 max-sm:text-xs -outline-offset-4 hover:text-ink data-[state=active]:font-semibold data-[state=active]:text-ink data-[state=active]:after:absolute data-[state=active]:after:inset-x-1.5 data-[state=active]:after:bottom-0 data-[state=active]:after:h-0.5 data-[state=active]:after:rounded-full data-[state=active]:after:bg-ink"
              >
                {TAB_TITLES[name]}
              </Tabs.Trigger>
            ))}
          </Tabs.List>
          {closeInspector && (
            <Button
              icon
              aria-label="Close inspector"
              onClick={closeInspector}
              className="ms-auto min-[68.75rem]:hidden"
            >
              <X aria-hidden />
            </Button>
          )}
        </div>
        {tabs.map((name) => {
          const Content = CONTENTS[name]
          return (
            <Tabs.Content
              key={name}
              value={name}
              className="min-h-0 flex-1 overflow-y-auto -outline-offset-2"
            >
              {/* An asset does not need the conversation. */}
              {loaded || (name === 'assets' && view.asset) ? <Content /> : <NotLoaded />}
            </Tabs.Content>
          )
        })}
      </div>
    </Tabs.Root>
  )
}

/** Renders a tab until its conversation is loaded: an empty tab would say that there is nothing. */
function NotLoaded() {
  const { error } = useConnection()
  const isRefused = error !== null && error.status !== 0
  return (
    <div className="flex items-center gap-2 p-4 text-sm text-ink-2">
      {isRefused ? error?.message : <Spinner label="Loading the conversation" />}
      {error && !isRefused && 'The server does not answer, so this is not loaded yet.'}
    </div>
  )
}
