import { ByrefError } from '../../errors.ts'
import type { Tool } from '../tools/tool.ts'
import type { Plugins } from './command-message.ts'
import type { Plugin } from './load-plugin.ts'

/** The plugins of an agent by their names. @throws ByrefError `config_invalid` for two of one name */
export function pluginsByName(plugins: readonly Plugin[]): Plugins {
  const named = new Map<string, Plugin>()
  for (const plugin of plugins) {
    if (named.has(plugin.name)) {
      const what = `Two plugins have the name "${plugin.name}": give one another info.name`
      throw new ByrefError('config_invalid', what)
    }
    named.set(plugin.name, plugin)
  }
  return named
}

/** Their commands as tools. */
export function pluginTools(plugins: Plugins): Tool[] {
  return [...plugins.values()].flatMap(({ commands }) =>
    [...commands.values()].map(({ tool }) => tool),
  )
}
