export type { CallItem, CallOutcome, CallWork, Execution, StepWork, Work } from './policy.ts'
export type { CheckedCall, FlowDecision } from './trust/trust-options.ts'
