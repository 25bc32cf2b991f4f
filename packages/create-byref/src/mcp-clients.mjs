import { mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { applyEdits, modify, parse } from 'jsonc-parser'

/**
 * @typedef {object} McpServer
 * @property {string} command
 * @property {string[]} args
 */

/** @typedef {'claude-desktop' | 'cursor'} ClientName */

/** @type {readonly ClientName[]} */
export const CLIENT_NAMES = ['claude-desktop', 'cursor']

/**
 * The file in which a client keeps its servers.
 *
 * @param {ClientName} client
 * @param {{ platform?: NodeJS.Platform, env?: NodeJS.ProcessEnv, home?: string }} [machine]
 */
export function configFile(client, machine = {}) {
  const { platform = process.platform, env = process.env, home = homedir() } = machine
  if (client === 'cursor') return join(home, '.cursor', 'mcp.json')
  const file = 'claude_desktop_config.json'
  if (platform === 'darwin') return join(home, 'Library/Application Support/Claude', file)
  if (platform === 'win32')
    return join(env.APPDATA ?? join(home, 'AppData/Roaming'), 'Claude', file)
  return join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'Claude', file)
}

/**
 * Adds a server to the text of a configuration. Everything else in it stays as it is, with comments and indentation.
 *
 * @param {string | null} text null if there is no file yet
 * @param {string} name
 * @param {McpServer} server
 * @returns {{ outcome: 'added', text: string } | { outcome: 'same' | 'taken' | 'unreadable' }} `taken`: the client has
 *   another server of this name, which stays
 */
export function addServer(text, name, server) {
  const before = text?.trim() ? text : '{}'
  /** @type {import('jsonc-parser').ParseError[]} */
  const errors = []
  const config = parse(before, errors, { allowTrailingComma: true })
  const { mcpServers: servers = {} } = Object(config)
  if (errors.length > 0 || !isObject(config) || !isObject(servers)) return { outcome: 'unreadable' }
  if (Object.hasOwn(servers, name)) {
    const isSame = JSON.stringify(servers[name]) === JSON.stringify(server)
    return { outcome: isSame ? 'same' : 'taken' }
  }
  const [, indent = '  '] = /^([ \t]+)"/m.exec(before) ?? []
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.length,
    eol: before.includes('\r\n') ? '\r\n' : '\n',
  }
  const edits = modify(before, ['mcpServers', name], server, { formattingOptions })
  return { outcome: 'added', text: applyEdits(before, edits) }
}

/**
 * @param {string} file
 * @returns {string | null} null if there is none
 */
export function readConfig(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/**
 * Replaces the file at once, so that a client never reads half of it. A link to the file stays, and the same people may
 * read it: it may have keys.
 *
 * @param {string} file
 * @param {string} text
 */
export function writeConfig(file, text) {
  const known = statSync(file, { throwIfNoEntry: false })
  const target = known ? realpathSync(file) : file
  mkdirSync(dirname(target), { recursive: true })
  const beside = `${target}.${process.pid}.tmp`
  writeFileSync(beside, text, known ? { mode: known.mode & 0o777 } : {})
  renameSync(beside, target)
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
