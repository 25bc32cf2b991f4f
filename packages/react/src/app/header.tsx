import {
  Command,
  Moon,
  PanelLeftOpen,
  PanelRightClose,
  PanelRightOpen,
  Sun,
  SunMoon,
} from 'lucide-react'
import { type ReactNode, use } from 'react'
import { Button } from '../ui/button.tsx'
import { Tooltip } from '../ui/tooltip.tsx'
import { useConversationId } from './conversation-context.tsx'
import { PaletteContext } from './palette-context.ts'
import { setPanel, useIsColumn, usePanel } from './panels.ts'
import { useServer } from './server.ts'
import { useQuery } from './server-queries.ts'
import { toggleTheme, useTheme } from './theme.ts'

/** Renders the line above a page: its title, the model that answers, and the buttons of the app. */
export function Header({ title, inspector = false }: { title: ReactNode; inspector?: boolean }) {
  const { isOffline } = useServer()
  const conversationsOpen = usePanel('conversations')
  const isColumn = useIsColumn('conversations')
  const inspectorOpen = usePanel('inspector')
  const openPalette = use(PaletteContext)
  const theme = useTheme()
  const InspectorIcon = inspectorOpen ? PanelRightClose : PanelRightOpen
  const ThemeIcon = { system: SunMoon, light: Sun, dark: Moon }[theme]
  return (
    <header className="@container flex min-h-12 shrink-0 flex-wrap items-center gap-1 border-b border-line px-2 py-1 sm:px-3">
      {/* A drawer gives the focus back to this button. */}
      {!(conversationsOpen && isColumn) && !isOffline && (
        <Tooltip text="Show conversations">
          <Button
            icon
            aria-label="Show conversations"
            onClick={() => setPanel('conversations', true)}
          >
            <PanelLeftOpen aria-hidden className="rtl:-scale-x-100" />
          </Button>
        </Tooltip>
      )}
      <h1
        dir="auto"
        // Until the title is loaded, nothing is shown that would change.
        aria-label={title === '' ? 'Conversation' : undefined}
        className="min-w-0 flex-1 basis-24 truncate px-1 text-sm font-semibold"
      >
        {title}
      </h1>
      <div className="ms-auto flex min-w-0 items-center gap-1">
        <Model />
        <Tooltip text="Commands (Ctrl K)">
          <Button icon aria-label="Commands" onClick={openPalette}>
            <Command aria-hidden />
          </Button>
        </Tooltip>
        <Tooltip text={`Light or dark (now: ${theme})`}>
          <Button icon aria-label="Toggle theme" onClick={toggleTheme} className="@max-lg:hidden">
            <ThemeIcon aria-hidden />
          </Button>
        </Tooltip>
        {inspector && (
          <Tooltip text={inspectorOpen ? 'Hide inspector' : 'Show inspector'}>
            <Button
              icon
              aria-label={inspectorOpen ? 'Hide inspector' : 'Show inspector'}
              onClick={() => setPanel('inspector', !inspectorOpen)}
            >
              <InspectorIcon aria-hidden className="rtl:-scale-x-100" />
            </Button>
          </Tooltip>
        )}
      </div>
    </header>
  )
}

function Model() {
  const { infoQuery, conversationQuery } = useServer()
  const { data: info } = useQuery(infoQuery)
  // The thread has loaded it. A new conversation is answered by the first agent.
  const { data } = useQuery({ ...conversationQuery(useConversationId() ?? ''), enabled: false })
  const agents = info?.agents ?? []
  const own = agents.length > 1 && data?.agent ? data.agent : agents[0]?.name
  const model = agents.find(({ name }) => name === own)?.model
  if (!model) return null
  const { id, provider, demo } = model
  if (!demo) {
    return (
      <span
        className="me-1 max-w-48 min-w-0 truncate text-xs text-ink-3"
        title={`${provider} answers`}
      >
        {id}
      </span>
    )
  }
  return (
    <Tooltip text="The demo model answers by rules, without a language model. To use one, set OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY, or OPENAI_BASE_URL and BYREF_MODEL, and restart the server.">
      <button
        type="button"
        className="me-1 min-w-0 truncate rounded-full border border-variable-line bg-warn-soft px-2 py-0.5 text-2xs font-medium whitespace-nowrap text-warn"
      >
        demo model
      </button>
    </Tooltip>
  )
}
