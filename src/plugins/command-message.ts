import { isPlainObject } from '../core/json/json.ts'
import type { Message, ToolCall } from '../core/messages/message.ts'
import type { Plugin } from './load-plugin.ts'

/** The plugins of an agent, by their names. */
export type Plugins = ReadonlyMap<string, Plugin>

/** A message that runs a command of a plugin. */
export interface CommandMessage extends Message {
  content: { command: string; param?: unknown; [key: string]: unknown }
}

/** Whether a message is a command for a plugin, which runs without a model. */
export function isCommand(message: Message): message is CommandMessage {
  const { receiver, content_type, content } = message
  if (receiver?.participant_role !== 'plugin' || content_type !== 'command') return false
  return isPlainObject(content) && typeof content.command === 'string' && !('response' in content)
}

/**
 * Returns the call that runs a command. If the plugin or the command is unknown, running the call fails with that
 * error.
 */
export function callOf({ id, receiver, content }: CommandMessage, plugins: Plugins): ToolCall {
  const { command, param } = content
  const name = receiver?.name ?? receiver?.participant_id ?? ''
  const found = pluginOf(name, plugins)?.commands.get(command)
  const given = isPlainObject(param) ? param : {}
  return {
    id: commandCallId(id),
    name: found?.tool.id ?? `${name}.${command}`,
    arguments: found ? found.argumentsOf(param) : given,
  }
}

/** Returns the id of the call that runs the command of a message. */
export function commandCallId(messageId: string): string {
  return `${COMMAND}${messageId}`
}

/** Whether a person made the call with this id, by a command. */
export function isCommandCall(callId: string): boolean {
  return callId.startsWith(COMMAND)
}

const COMMAND = 'command_'

/** Returns a plugin by its name or title. */
function pluginOf(name: string, plugins: Plugins): Plugin | undefined {
  return plugins.get(name) ?? [...plugins.values()].find(({ title }) => title === name)
}
