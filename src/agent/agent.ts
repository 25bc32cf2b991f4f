import { hostname } from 'node:os'
import { newId } from '../content/new-id.ts'
import { type ConversationLog, listAll } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory.ts'
import { modelSettings } from '../model/model-settings.ts'
import { openAssets } from './agent-assets.ts'
import type { Agent, AgentOptions, StreamListener } from './agent-contract.ts'
import type { AgentParts, InNamespace } from './agent-parts.ts'
import { asLanguageModel } from './as-language-model.ts'
import { cancelRun } from './cancel.ts'
import {
  type OpenConversation,
  type OpenConversations,
  openConversations,
} from './conversations.ts'
import { forkConversation } from './fork.ts'
import { knownOptions } from './known-options.ts'
import { resolveLimits } from './limits.ts'
import { pluginsByName, pluginTools } from './plugins/plugins-by-name.ts'
import { tellHandlers } from './processors.ts'
import { resolvePromptOptions } from './prompt-settings.ts'
import { resumeRun } from './resume.ts'
import type { AgentSettings } from './run-settings.ts'
import { addMessages, sendMessages, startRun } from './start-run.ts'
import { subAgentTool } from './sub-agent.ts'
import { resolveTools } from './tools/native-tools.ts'

const OPTIONS: readonly (keyof AgentOptions)[] = [
  'model',
  'instructions',
  'tools',
  'plugins',
  'reading',
  'assets',
  'log',
  'namespace',
  'context',
  'settings',
  'limits',
  'merge',
  'history',
  'media',
  'capabilities',
  'retry',
  'leaseMs',
  'processors',
  'callbacks',
]

/**
 * Makes an agent.
 *
 * @throws ByrefError `config_invalid` for an option that there is not, a model that is none, two tools with one id, or
 *   a native tool that there is not
 */
export function createAgent(options: AgentOptions): Agent {
  knownOptions('createAgent', options, OPTIONS)
  const { instructions = '', retry, callbacks = {}, processors = [], leaseMs = 10_000 } = options
  const model = asLanguageModel(options.model)
  const log = options.log ?? createMemoryLog()
  const namespace = options.namespace ?? log.namespace
  const streamListeners = new Set<StreamListener>()
  const handlers = { ...callbacks, processors }
  const assets = openAssets(options, namespace, async (event) => {
    await callbacks.onEvent?.(event, { conversation: null })
  })
  const plugins = pluginsByName(options.plugins ?? [])
  const { tools, later } = resolveTools([...(options.tools ?? []), ...pluginTools(plugins)], {
    resolveInLLM: assets.config.resolveInLLM,
    reading: options.reading,
  })
  const settings: Omit<AgentSettings, 'assets'> = {
    model,
    instructions,
    tools: new Map(tools.map((tool) => [tool.id, tool])),
    later,
    context: options.context,
    limits: resolveLimits(options.limits),
    prompt: resolvePromptOptions(model, options),
    modelSettings: modelSettings(options.settings),
    plugins,
    retry,
  }
  const owner = `${hostname()}:${process.pid}:${newId()}`
  const open = new Map<string | null, OpenConversations>()
  const hasHandlers = callbacks.onEvent !== undefined || processors.length > 0

  function logOf(of: string | null): ConversationLog {
    return of === log.namespace ? log : log.scoped(of)
  }

  function conversations(of: string | null): OpenConversations {
    const known = open.get(of)
    if (known) return known
    const own = assets.in(of)
    const made = openConversations({
      log: logOf(of),
      settings: { ...settings, assets: own },
      owner,
      leaseMs,
      tell: hasHandlers ? (thread, event) => tellHandlers(handlers, thread, event, own) : undefined,
      onStream(conversation, event) {
        for (const listener of streamListeners) listener(conversation, event, { namespace: of })
      },
    })
    open.set(of, made)
    return made
  }

  async function resumeAll(): Promise<number> {
    let count = 0
    for await (const { id, namespace: its } of listAll(log, { due: true, allNamespaces: true })) {
      const { wake } = await conversations(its).get(id)
      wake()
      count++
    }
    return count
  }

  function onStream(listener: StreamListener): () => void {
    streamListeners.add(listener)
    return () => {
      streamListeners.delete(listener)
    }
  }

  async function close(): Promise<void> {
    await Promise.all([...open.values()].map((one) => one.close()))
  }

  const shared = { model, tools, resumeAll, onStream, close }
  const base = { log, assets, owner, leaseMs, conversations }
  return agentIn(namespace)

  function agentIn(namespace: string | null): Agent {
    const parts: AgentParts = {
      ...base,
      settings: { ...settings, assets: assets.in(namespace) },
      namespace,
    }
    const of = (given: InNamespace = {}): string | null =>
      given.namespace === undefined ? namespace : given.namespace
    const get = async (id: string, given?: InNamespace): Promise<OpenConversation> =>
      conversations(of(given)).get(id)

    const agent: Agent = {
      ...shared,
      assets: assets.toldIn(namespace),
      log: logOf(namespace),
      run: (runOptions) => startRun(parts, runOptions).run,
      async start(runOptions) {
        const { run, accepted } = startRun(parts, runOptions)
        await accepted
        return run
      },
      send: (conversation, messages, sendOptions) =>
        sendMessages(parts, conversation, messages, sendOptions),
      add: (conversation, messages, given) => addMessages(parts, conversation, messages, given),
      async deleteMessage(conversation, messageId, given) {
        const { deleteMessage } = await import('./delete-message.ts')
        await deleteMessage(await get(conversation, given), messageId)
      },
      resume: (conversation, given) => resumeRun(conversations(of(given)), conversation),
      async approve(conversation, toolCallId, answer, given) {
        const checkedWith = { tools: parts.settings.tools, assets: assets.in(of(given)) }
        const { answerApproval } = await import('./approve.ts')
        await answerApproval(checkedWith, await get(conversation, given), toolCallId, answer)
      },
      cancel: async (conversation, given) => cancelRun(await get(conversation, given)),
      fork: (conversation, given) => forkConversation(logOf(of(given)), conversation, given),
      asTool: (subOptions) => subAgentTool(parts, subOptions),
      debug: async (conversation, messageId, given) => {
        const its = of(given)
        const source = { log: logOf(its), assets: assets.in(its), namespace: its }
        const { deriveDebug } = await import('./steps/derive-debug.ts')
        return deriveDebug({ ...source, settings: parts.settings }, conversation, messageId)
      },
      scoped: (other) => (other === namespace ? agent : agentIn(other)),
    }
    return agent
  }
}
