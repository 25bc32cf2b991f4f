/**
 * Names of attributes: those of the GenAI semantic conventions (github.com/open-telemetry/semantic-conventions-genai, still in
 * development and in no package), and byref's own.
 */
export const ATTRIBUTES = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.request.model',
  stream: 'gen_ai.request.stream',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  tool: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCall: 'gen_ai.tool.call.id',
  error: 'error.type',
  exceptionType: 'exception.type',
  exceptionMessage: 'exception.message',
  // byref's own
  /** US dollars. */
  cost: 'byref.usage.cost',
  run: 'byref.run.id',
  parentRun: 'byref.run.parent_id',
  /** Why the run ended: `done`, `cancelled`, `step_limit` … */
  runReason: 'byref.run.finish_reason',
  namespace: 'byref.namespace',
  /** Whether the work was stopped before its end, because this process stopped working on the run. */
  interrupted: 'byref.interrupted',
  /** The message that the step writes. */
  message: 'byref.message.id',
  attempt: 'byref.tool.attempt',
  approved: 'byref.approval.approved',
  compaction: 'byref.compaction.reason',
  /** References to the assets that a call's arguments name. */
  assetsUsed: 'byref.assets.used',
  /** References to the assets that a call made. */
  assetsCreated: 'byref.assets.created',
} as const

/** Values of `gen_ai.operation.name`. The names of spans begin with them. */
export const OPERATIONS = { run: 'invoke_agent', step: 'chat', call: 'execute_tool' } as const

/** Names of the events of a run's span. */
export const EVENTS = {
  exception: 'exception',
  approvalRequested: 'byref.approval.requested',
  approvalAnswered: 'byref.approval.answered',
  compacted: 'byref.prompt.compacted',
} as const

/** Names of providers in the conventions, by the AI SDK's names, where they differ. */
const PROVIDERS: readonly (readonly [prefix: string, name: string])[] = [
  ['google.vertex', 'gcp.vertex_ai'],
  ['google', 'gcp.gemini'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
]

/** Returns the name of a provider in the conventions: `openai` for the AI SDK's `openai.responses`. */
export function providerName(provider: string): string {
  const known = PROVIDERS.find(([prefix]) => `${provider}.`.startsWith(`${prefix}.`))
  return known?.[1] ?? (provider.split('.', 1)[0] as string)
}
