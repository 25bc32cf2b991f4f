import { aiSdk } from './ai-sdk.ts'
import type { Engine } from './engine.ts'
import { langgraph } from './langgraph.ts'
import { mastra } from './mastra.ts'
import { openaiAgents } from './openai-agents.ts'
import { workflow } from './workflow.ts'

/** Every framework, in each of its variants. */
export const ENGINES: readonly Engine[] = [
  ...langgraph,
  ...openaiAgents,
  ...mastra,
  ...aiSdk,
  ...workflow,
]
