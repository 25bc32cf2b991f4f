import { is, type OptionTable } from '../core/check-options.ts'
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

export const NAMESPACE: OptionTable<InNamespace> = { namespace: is.nullable(is.string) }
