export {
  type DurableOptions,
  type DurableTool,
  durableOptions,
  type StepAnswer,
  type StepRequest,
} from './durable-options.ts'
