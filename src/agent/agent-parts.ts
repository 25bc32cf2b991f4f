import { is, type OptionTable } from '../core/check-options.ts'
import type { AgentSettings } from '../engine/run-settings.ts'
import type { Sessions } from '../engine/sessions.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import type { AgentAssets } from './agent-assets.ts'

/** What the functions of an agent share. */
export interface AgentParts {
  settings: AgentSettings
  log: ConversationLog
  assets: AgentAssets
  namespace: string | null
  /** This agent, unique over all processes. */
  owner: string
  leaseMs: number
  /** The conversations of a namespace that are open in this process. */
  sessions(namespace: string | null): Sessions
}

/** What names a conversation beside its id. */
export interface InNamespace {
  /** Default: the agent's. */
  namespace?: string | null
}

export const NAMESPACE: OptionTable<InNamespace> = { namespace: is.nullable(is.string) }
