import { hasDuckdb } from '../assets/tables/duckdb.ts'
import { isNativeName, resolveTools } from '../boundary/native-tools.ts'
import type { Tool } from '../boundary/tool.ts'
import { ToolCatalogue } from '../boundary/tool-catalogue.ts'
import { resolveToolSearch } from '../boundary/tool-search.ts'
import { checkMethods, checkOptions } from '../core/check-options.ts'
import { ByrefError, DamagedError } from '../core/errors.ts'
import type { JsonValue } from '../core/json/json.ts'
import { newId } from '../core/new-id.ts'
import { getRecent } from '../core/recent.ts'
import { cancelRun } from '../engine/cancel.ts'
import { leaseOwner } from '../engine/lease-owner.ts'
import { checkAgentFits, ForeignRunError } from '../engine/next.ts'
import { OpenConversations } from '../engine/open-conversations.ts'
import { type AgentSettings, resolveLimits, resolvePromptOptions } from '../engine/run-settings.ts'
import type { Session } from '../engine/session.ts'
import { isSubRun, Sessions } from '../engine/sessions.ts'
import { type ConversationLog, listAll, notFoundError } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { modelSettings } from '../models/language-model.ts'
import type { Plugins } from '../plugins/command-message.ts'
import type { Plugin } from '../plugins/load-plugin.ts'
import { appPolicy } from '../policies/app-policy.ts'
import { approvalPolicy, retryPolicy, timeLimitPolicy } from '../policies/defaults.ts'
import { composePolicies, type Policy } from '../policies/policy.ts'
import { resolveTrust } from '../policies/trust/trust-options.ts'
import { trustPolicy } from '../policies/trust/trust-policy.ts'
import { type AgentAssets, MAX_NAMESPACES, openAssets } from './agent-assets.ts'
import type { Agent, AgentOptions } from './agent-contract.ts'
import { AGENT_METHODS, AGENT_OPTIONS } from './agent-options.ts'
import type { AgentParts, InNamespace } from './agent-parts.ts'
import { askAboutTool } from './ask-about.ts'
import { deleteMessage } from './delete-message.ts'
import { forkConversation } from './fork.ts'
import { callHandlers } from './processors.ts'
import { readConversation, readLineage } from './read-conversation.ts'
import { resumeRun } from './resume.ts'
import { addMessages, sendMessages, startRun, storedContext } from './start-run.ts'
import { StreamListeners } from './stream-listeners.ts'
import { subAgentTool } from './sub-agent.ts'

/**
 * Maximum time a worker waits for a busy provider, in milliseconds. Other conversations wait for the worker.
 */
const MAX_WAIT_MS = 5000

/** The property of a tool with the sub-agent that it is. The agents may be of two copies of byref in the process. */
const SUB_AGENT = Symbol.for('byref.sub-agent')

function subAgentOf(tool: Tool & { [SUB_AGENT]?: Agent }): Agent | undefined {
  return tool[SUB_AGENT]
}

/** The parts of an agent that its namespaces share. */
interface Core extends Omit<AgentParts, 'settings' | 'namespace'> {
  settings: Omit<AgentSettings, 'assets'>
  logOf(namespace: string | null): ConversationLog
  methods: Pick<
    Agent,
    | 'name'
    | 'model'
    | 'tools'
    | 'listTools'
    | 'trust'
    | 'resumeAll'
    | 'onStream'
    | 'isIdle'
    | 'close'
  >
}

/**
 * Creates an agent: a model with instructions, tools, assets and a log of conversations. Nothing runs until you call
 * `run`, `start`, `send`, `resume` or `resumeAll`.
 *
 * @throws ByrefError `config_invalid` for an unknown option, an invalid model, two tools with one id, two
 *   plugins with one name, or an unknown native tool
 */
export function createAgent(options: AgentOptions): Agent {
  checkOptions('createAgent', options, AGENT_OPTIONS)
  const { callbacks = {}, processors = [], leaseMs = 10_000 } = options
  const log = options.log ?? createMemoryLog()
  const namespace = options.namespace ?? log.namespace
  const streams = new StreamListeners(log)
  const handlers = { ...callbacks, processors }
  const hasHandlers = callbacks.onEvent !== undefined || processors.length > 0
  const assets = openAssets(options, namespace, async (event) => {
    await callbacks.onEvent?.(event, { conversation: null })
  })
  const { settings, catalogue } = settingsOf(options, assets)
  const owner = leaseOwner(newId())
  const open = new OpenConversations(log)
  const views = new Map<string | null, Sessions>()
  const logOf = (of: string | null): ConversationLog =>
    of === log.namespace ? log : log.scoped(of)

  function sessionsOf(of: string | null): Sessions {
    const scopedAssets = assets.in(of)
    return new Sessions({
      open,
      log: logOf(of),
      settings: { ...settings, assets: scopedAssets },
      owner,
      leaseMs,
      callHandlers: hasHandlers
        ? (session, event) => callHandlers(handlers, session, event, scopedAssets)
        : undefined,
      onStream: (conversation, event) => streams.notify(conversation, event, { namespace: of }),
    })
  }
  const sessions = (of: string | null) => getRecent(views, of, () => sessionsOf(of), MAX_NAMESPACES)

  const methods: Core['methods'] = {
    name: settings.name,
    model: settings.model,
    tools: [...settings.tools.values()],
    listTools: (of) => catalogue.list(of),
    trust: settings.trust?.mode ?? 'off',
    resumeAll: () => resumeAll(log, settings, sessions),
    onStream: (listener) => streams.add(listener),
    isIdle: () => open.isIdle,
    async close() {
      streams.close()
      await open.close()
    },
  }
  return agentIn(namespace, {
    log,
    logOf,
    assets,
    owner,
    sessions,
    settings,
    methods,
  })
}

function settingsOf(
  options: AgentOptions,
  { config }: AgentAssets,
): { settings: Core['settings']; catalogue: ToolCatalogue } {
  const { model } = options
  const plugins = pluginsByName(options.plugins ?? [])
  const trust = resolveTrust(options.trust)
  const limits = resolveLimits(options.limits)
  const ownTools = [...(options.tools ?? []), ...pluginTools(plugins)]
  const { retry, capabilities } = options
  const askAbout =
    trust?.mode === 'quarantine'
      ? [askAboutTool({ model, retry, capabilities, modelTimeoutMs: limits.modelTimeoutMs })]
      : []
  const { tools: allTools, later } = resolveTools([...ownTools, ...askAbout], {
    resolveInLLM: config.resolveInLLM,
    reading: options.reading,
    tables: hasDuckdb(),
  })
  // An app's tool that replaces a native tool is shown under the same conditions as the native tool.
  const searchable = ownTools
    .filter((tool) => typeof tool !== 'string')
    .filter((tool) => !isNativeName(tool))
  const searched = resolveToolSearch(allTools, searchable, options.toolSearch)
  const { deferred } = searched
  const tools = new Map(searched.tools.map((tool) => [tool.id, tool]))
  const settings = {
    name: options.name ?? null,
    model,
    instructions: [options.instructions, ...pluginDescriptions(plugins)]
      .filter(Boolean)
      .join('\n\n'),
    tools,
    later,
    deferred,
    context: options.context,
    limits,
    prompt: resolvePromptOptions(model, options),
    modelSettings: modelSettings(options.settings),
    plugins,
    trust,
    retry,
    prepareStep: options.prepareStep,
    ...(options.log?.queue ? { maxWaitMs: MAX_WAIT_MS } : {}),
    policy: composePolicies(policiesOf(options, { tools, trust, limits })),
  }
  return { settings, catalogue: new ToolCatalogue(searched, later) }
}

/**
 * Returns the policies of an agent, outermost first: retries wrap time limits, which wrap the app's own
 * policies.
 */
function policiesOf(
  { policies = [] }: AgentOptions,
  { tools, trust, limits }: Pick<AgentSettings, 'tools' | 'trust' | 'limits'>,
): Policy[] {
  const has = (key: keyof Tool): boolean => [...tools.values()].some((tool) => Boolean(tool[key]))
  return [
    ...(has('needsApproval') ? [approvalPolicy] : []),
    ...(has('retries') ? [retryPolicy] : []),
    ...(has('timeoutMs') || limits.callTimeoutMs !== Infinity
      ? [timeLimitPolicy(limits.callTimeoutMs)]
      : []),
    ...policies.map((policy, i) => appPolicy(policy, `policies[${i}]`)),
    ...(trust ? [trustPolicy(trust)] : []),
  ]
}

async function resumeAll(
  log: ConversationLog,
  settings: Core['settings'],
  sessionsOf: Core['sessions'],
): Promise<number> {
  let count = 0
  if (log.queue) return count
  for await (const { id, namespace, agent } of listAll(log, { due: true, allNamespaces: true })) {
    const { name } = settings
    const isOthers = name !== null && agent !== null && agent !== name
    // The call that started a sub-agent's run may be over. Then any agent may end the run.
    if (isOthers && !id.includes('/')) continue
    try {
      const sessions = sessionsOf(namespace)
      const session = await sessions.get(id)
      if (isOthers && !isSubRun(session)) continue
      if (!isSubRun(session)) checkAgentFits(session, settings)
      sessions.wake(session)
      if (!isOthers) count++
    } catch (error) {
      // The lists show a damaged conversation, and another agent continues its own.
      if (!(error instanceof DamagedError || error instanceof ForeignRunError)) throw error
    }
  }
  return count
}

function agentIn(namespace: string | null, core: Core, context?: JsonValue): Agent {
  const { settings, assets, sessions, logOf, methods } = core
  const parts: AgentParts = {
    ...core,
    settings: { ...settings, assets: assets.in(namespace) },
    namespace,
    context,
  }
  const of = (given: InNamespace = {}): string | null =>
    given.namespace === undefined ? namespace : given.namespace
  const get = async (id: string, given?: InNamespace): Promise<Session> =>
    sessions(of(given)).get(id)

  const agent: Agent = {
    ...methods,
    assets: assets.toldIn(namespace),
    log: logOf(namespace),
    run: (runOptions) => startRun(parts, runOptions).run,
    async start(runOptions) {
      const { run, begun } = startRun(parts, runOptions)
      await begun
      return run
    },
    send: (conversation, messages, sendOptions) =>
      sendMessages(parts, conversation, messages, sendOptions),
    add: (conversation, messages, given) => addMessages(parts, conversation, messages, given),
    async deleteMessage(conversation, messageId, given) {
      await deleteMessage(await get(conversation, given), messageId)
    },
    async deleteConversation(conversation, given) {
      const log = logOf(of(given))
      if (!(await log.find(conversation))) return false
      const { deleteConversation } = await import('./delete-conversation.ts')
      const cancel = () => agent.cancel(conversation, { ...given, discardQueued: true })
      return deleteConversation(conversation, { log, cancel })
    },
    async advance(conversation, { namespace: scope, ...how } = {}) {
      const opened = sessions(of({ namespace: scope }))
      return opened.advance(await opened.get(conversation), how)
    },
    resume: (conversation, given) => resumeRun(sessions(of(given)), conversation),
    async approve(conversation, toolCallId, answer, given) {
      const { answerApproval, subAgentCall } = await import('./approve.ts')
      const scope = of(given)
      const opened = sessions(scope)
      const session = await opened.find(conversation)
      if (!session) throw notFoundError(conversation)
      const sub = await subAgentCall(session, toolCallId)
      if (sub) {
        // The sub-agent may have another log. An agent without the tool has to share the log.
        const tool = settings.tools.get(sub.tool)
        const answering = (tool && subAgentOf(tool)) ?? agent
        await answering.approve(sub.conversation, sub.toolCallId, answer, { namespace: scope })
      } else {
        const hasWorkers = core.log.queue !== undefined
        const checkedWith = { ...settings, assets: assets.in(scope), hasWorkers }
        await answerApproval(checkedWith, session, toolCallId, answer)
      }
      opened.wake(session)
    },
    async cancel(conversation, given) {
      const opened = sessions(of(given))
      return cancelRun(opened, await opened.get(conversation), given)
    },
    conversation: (conversation, given) =>
      readConversation(logOf(of(given)), conversation, assets.in(of(given))),
    runs: ({ namespace: scope, ...options } = {}) => logOf(of({ namespace: scope })).runs(options),
    costs: ({ namespace: scope, ...options } = {}) =>
      logOf(of({ namespace: scope })).costs(options),
    fork: (conversation, given) => forkConversation(logOf(of(given)), conversation, given),
    lineage: (conversation, ref, given) => readLineage(logOf(of(given)), conversation, ref),
    asTool(subOptions) {
      const tool = subAgentTool(parts, subOptions)
      return Object.defineProperty(tool, SUB_AGENT, { value: agent })
    },
    debug: async (conversation, messageId, given) => {
      const scope = of(given)
      const source = { log: logOf(scope), settings: { ...settings, assets: assets.in(scope) } }
      const { deriveDebug } = await import('../engine/steps/derive-debug.ts')
      return deriveDebug(source, conversation, messageId)
    },
    scoped(other, { context: own } = {}) {
      if (other === namespace && own === undefined) return agent
      return agentIn(other, core, own === undefined ? context : storedContext(own))
    },
  }
  return checkMethods('agent', agent, AGENT_METHODS)
}

/**
 * Returns the plugins by name.
 * @throws ByrefError `config_invalid` if two have the same name
 */
function pluginsByName(plugins: readonly Plugin[]): Plugins {
  const named = new Map<string, Plugin>()
  for (const plugin of plugins) {
    if (named.has(plugin.name)) {
      const message = `Two plugins have the name "${plugin.name}". Change info.name of one of them.`
      throw new ByrefError('config_invalid', message)
    }
    named.set(plugin.name, plugin)
  }
  return named
}

/** Maximum number of commands that a plugin's description names. */
const MAX_COMMANDS = 10

/** Returns a text for the model that describes each plugin. The commands have their own descriptions. */
function pluginDescriptions(plugins: Plugins): string[] {
  const described = [...plugins.values()].filter(({ description }) => description !== '')
  return described.map(({ title, description, commands }) => {
    const tools = [...commands.values()].map(({ tool }) => tool.id)
    const others = tools.splice(MAX_COMMANDS).length
    const more = others > 0 ? ` and ${others} more` : ''
    return `${title} (${tools.join(', ')}${more}): ${description}`
  })
}

/** Returns the plugins' commands as tools. */
function pluginTools(plugins: Plugins): Tool[] {
  return [...plugins.values()].flatMap(({ commands }) =>
    [...commands.values()].map(({ tool }) => tool),
  )
}
