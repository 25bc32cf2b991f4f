import { TOOL } from '../boundary/native-tools.ts'
import { TOOL_OPTIONS } from '../boundary/tool.ts'
import { TOOL_SEARCH } from '../boundary/tool-search.ts'
import { called } from '../core/called.ts'
import { is, type MethodTables, type OptionTable } from '../core/check-options.ts'
import { EVENT_TYPES } from '../core/events/events.ts'
import { parseVariableRef } from '../core/refs/variable-ref.ts'
import { LIMITS, PROMPT_OPTIONS } from '../engine/run-settings.ts'
import { COSTS_OPTIONS, RUNS_OPTIONS } from '../log/check-arguments.ts'
import { MODEL, MODEL_SETTINGS, RETRY_OPTIONS } from '../models/language-model.ts'
import type { Plugin } from '../plugins/load-plugin.ts'
import { POLICY, type Policy } from '../policies/policy.ts'
import { TRUST_MODE, TRUST_OPTIONS } from '../policies/trust/trust-options.ts'
import { ASSETS } from './agent-assets.ts'
import type { Agent, AgentOptions } from './agent-contract.ts'
import { NAMESPACE, SCOPED } from './agent-parts.ts'
import type { EventHandlers, Processor } from './processors.ts'
import { ADD_OPTIONS, SEND_OPTIONS } from './start-run.ts'

export const AGENT_OPTIONS: OptionTable<AgentOptions> = {
  ...PROMPT_OPTIONS,
  model: is.required(MODEL),
  instructions: called(is.string, 'system', 'systemPrompt', 'prompt'),
  namespace: is.string,
  name: is.checked('1 to 100 letters, digits, "_", "-" and "."', isAgentName),
  tools: is.listOf(TOOL),
  plugins: is.listOf(is.having<Plugin>('a plugin, made by loadPlugin', 'commands')),
  reading: is.boolean,
  toolSearch: TOOL_SEARCH,
  assets: ASSETS,
  log: is.having('a log, such as createMemoryLog()', 'append', 'scoped'),
  context: is.anything,
  settings: is.group(MODEL_SETTINGS),
  prepareStep: is.callback(),
  limits: called(is.group(LIMITS), 'maxSteps', 'maxTurns'),
  trust: is.either(TRUST_MODE, is.group(TRUST_OPTIONS)),
  retry: is.group(RETRY_OPTIONS),
  leaseMs: is.positive,
  policies: is.listOf(is.group<Policy>(POLICY)),
  processors: is.listOf(
    is.group<Processor>({
      eventType: is.required(is.oneOf(...EVENT_TYPES)),
      process: is.required(is.callback()),
    }),
  ),
  callbacks: is.group<EventHandlers>({
    onEvent: is.callback(),
  }),
}

/** The check for an option that takes an agent. */
export const AGENT = is.having<Agent>('an agent, made by createAgent', 'run', 'approve')

const DATA_PATH = is.checked<string>(
  'a path that begins with †, such as "†state.user"',
  (path) => typeof path === 'string' && parseVariableRef(path)?.type === 'variable',
)

/** Option tables of the agent's methods. `run` and `start` check their options when the run begins. */
export const AGENT_METHODS: MethodTables<Agent> = {
  listTools: { 0: is.all(is.string, 'query', 'group') },
  send: { 2: SEND_OPTIONS },
  add: { 2: ADD_OPTIONS },
  ...is.all({ 2: NAMESPACE }, 'deleteMessage', 'lineage', 'debug'),
  resume: { 1: NAMESPACE, throws: true },
  ...is.all({ 1: NAMESPACE }, 'conversation', 'deleteConversation'),
  runs: { 0: { ...NAMESPACE, ...RUNS_OPTIONS } },
  costs: { 0: { ...NAMESPACE, ...COSTS_OPTIONS } },
  cancel: { 1: { ...NAMESPACE, runId: is.string, discardQueued: is.boolean } },
  fork: { 1: { ...NAMESPACE, ...is.all(is.string, 'at', 'before', 'id'), branch: is.boolean } },
  advance: { 1: { ...NAMESPACE, onTaken: is.callback(), leave: is.signal, signal: is.signal } },
  approve: {
    2: {
      approved: is.required(is.boolean),
      ...is.all(is.string, 'by', 'reason'),
      ...is.all(is.anything, 'arguments', 'result'),
    },
    3: NAMESPACE,
  },
  scoped: { 1: SCOPED, throws: true },
  asTool: {
    0: {
      ...is.all(is.required(is.string), 'id', 'description'),
      inputSchema: TOOL_OPTIONS.outputSchema,
      output: is.anything,
      data: is.listOf(DATA_PATH),
      attribution: is.string,
      needsApproval: TOOL_OPTIONS.needsApproval,
      timeoutMs: is.positive,
    },
    throws: true,
  },
}

/** Whether an agent may have this name. A name is also part of the name of a queue. */
export function isAgentName(name: unknown): boolean {
  return typeof name === 'string' && /^[\w.-]{1,100}$/.test(name)
}
