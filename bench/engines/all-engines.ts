import type { Engine } from './engine.ts'
import { langgraph } from './langgraph.ts'
import { workflow } from './workflow.ts'

/** Every framework, in each of its ways. */
export const ENGINES: readonly Engine[] = [...langgraph, ...workflow]
