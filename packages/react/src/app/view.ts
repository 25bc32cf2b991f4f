/** The inspector's tabs. */
export const TABS = [
  'assets',
  'data',
  'run',
  'prompt',
  'tools',
  'message',
  'checks',
  'origin',
] as const

/** One of the inspector's tabs. */
export type Tab = (typeof TABS)[number]

/** What people call the inspector's tabs. */
export const TAB_TITLES: Readonly<Record<Tab, string>> = {
  assets: 'Files',
  data: 'Saved values',
  run: 'Run',
  prompt: 'Prompt',
  tools: 'Tools',
  message: 'Message',
  checks: 'Problems',
  origin: 'Origin',
}

/** The part of an address after the conversation. It contains everything that is open, so a link can be copied. */
export interface View {
  tab?: Tab
  /** The id of the asset that is open in its tab. */
  asset?: string
  /** The id of an asset that is compared with another version, and that version. Default: the one before it. */
  compare?: string
  against?: string
  /** The variable that is open in its tab: `kind` or `kind#instance`. */
  data?: string
  /** The data message after which the board is shown. */
  at?: string
  /** The run that its tab shows first. */
  run?: string
  /** The message whose step is open in the prompt tab. */
  step?: string
  /** The tool that is open in its tab, the words that tools are searched by, and the agent that has them. */
  tool?: string
  query?: string
  agent?: string
  /** The message that is open in its tab, and a JSON Pointer into it. */
  message?: string
  path?: string
  /** The subject of the origin tab: a reference, or `message:<id>`, `call:<id>`. */
  origin?: string
  /** Opens the debug data of the message in the hash at this JSON Pointer. */
  debug?: string
}

/** Reads the view from the search of an address. Invalid parts are ignored. */
export function readView(search: Record<string, unknown>): View {
  const text = (key: string) => {
    const value = search[key]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  }
  return {
    tab: TABS.find((tab) => tab === search.tab),
    asset: text('asset'),
    compare: text('compare'),
    against: text('against'),
    data: text('data'),
    at: text('at'),
    run: text('run'),
    step: text('step'),
    tool: text('tool'),
    query: text('query'),
    agent: text('agent'),
    message: text('message'),
    path: text('path'),
    origin: text('origin'),
    debug: text('debug'),
  }
}
