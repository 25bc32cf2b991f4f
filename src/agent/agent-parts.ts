import { is, type OptionTable } from '../core/check-options.ts'
import type { JsonValue } from '../core/json/json.ts'
import type { AgentSettings } from '../engine/run-settings.ts'
import type { Sessions } from '../engine/sessions.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import type { AgentAssets } from './agent-assets.ts'

/** The parts of an agent that its functions share. */
export interface AgentParts {
  settings: AgentSettings
  log: ConversationLog
  assets: AgentAssets
  namespace: string | null
  /** The `context` of every run that it starts, if it was set for a namespace: see `Agent.scoped`. */
  context?: JsonValue
  /** Identifies this agent among all processes. */
  owner: string
  /** The sessions of a namespace in this process. */
  sessions(namespace: string | null): Sessions
}

/** The namespace of a conversation, which together with its id identifies it. */
export interface InNamespace {
  /** Default: the agent's namespace. */
  namespace?: string | null
}

/** Options of `agent.scoped`. */
export interface ScopedOptions {
  /**
   * The `context` of every run that the scoped agent starts, as JSON, such as the user who is logged in. It takes
   * precedence over the `context` of `run`, so a client of a server cannot replace it. Default: that of each run.
   */
  context?: JsonValue
}

export const SCOPED: OptionTable<ScopedOptions> = { context: is.anything }

export const NAMESPACE: OptionTable<InNamespace> = { namespace: is.nullable(is.string) }
