export {
  type AppendOptions,
  type ConversationStatus,
  type ConversationSummary,
  type Lease,
  LeaseHeldError,
  type ListOptions,
  type LogChange,
  LogConflictError,
  type ReadOptions,
} from './conversation-log.ts'
export { type LogEntry, logEntry, type SplitDebug, splitDebug } from './log-entry.ts'
export type { CostSum, CostsOptions, RunFilter, RunSummary, RunsOptions } from './runs.ts'
