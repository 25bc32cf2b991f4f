/**
 * A script of the project with its arguments, and what it does.
 *
 * @typedef {{ script: readonly string[], about: string }} Command
 */

/**
 * @typedef {object} Template
 * @property {string} hint What it is, for the person who chooses.
 * @property {readonly Command[]} commands For the README. The first two are also printed as the next steps.
 */

/**
 * @typedef {object} Provider
 * @property {string} hint What it is, for the person who chooses.
 * @property {Readonly<Record<string, string>>} dependencies Its package and version range.
 * @property {string} model The model that it uses by default.
 * @property {string | null} key The variable that has to be set.
 * @property {readonly string[]} env Lines of .env and .env.example. `{{baseUrl}}` and `{{model}}` are replaced.
 */

/** @type {Record<'chat' | 'terminal' | 'mcp-proxy', Template>} */
export const TEMPLATES = {
  chat: {
    hint: 'a chat in the browser: Next.js with useChat',
    commands: [
      { script: ['dev'], about: 'http://localhost:3000' },
      { script: ['build'], about: 'builds it for production' },
      { script: ['start'], about: 'serves what was built' },
      { script: ['types'], about: 'checks the types' },
    ],
  },
  terminal: {
    hint: 'an agent in the terminal',
    commands: [
      { script: ['start'], about: 'asks for questions' },
      { script: ['start', '--resume'], about: 'continues the last conversation' },
      { script: ['start', '"How much rain fell in 2025?"'], about: 'answers one question' },
      { script: ['types'], about: 'checks the types' },
    ],
  },
  'mcp-proxy': {
    hint: 'a proxy for MCP servers, for Claude Desktop and Cursor',
    commands: [
      { script: ['try'], about: 'asks a model that uses the server through the proxy' },
      { script: ['types'], about: 'checks the types' },
    ],
  },
}

/** @satisfies {Record<string, Provider>} */
export const PROVIDERS = {
  demo: {
    hint: 'a script in place of a model, no key needed',
    dependencies: {},
    model: '',
    key: null,
    env: ['# The demo model needs no key.', '# OPENAI_API_KEY='],
  },
  openai: {
    hint: 'needs OPENAI_API_KEY',
    dependencies: { '@ai-sdk/openai': '^4.0.95' },
    model: 'gpt-5-mini',
    key: 'OPENAI_API_KEY',
    env: ['OPENAI_API_KEY=', '# BYREF_MODEL={{model}}'],
  },
  anthropic: {
    hint: 'needs ANTHROPIC_API_KEY',
    dependencies: { '@ai-sdk/anthropic': '^4.0.81' },
    model: 'claude-sonnet-4-5',
    key: 'ANTHROPIC_API_KEY',
    env: ['ANTHROPIC_API_KEY=', '# BYREF_MODEL={{model}}'],
  },
  google: {
    hint: 'needs GOOGLE_GENERATIVE_AI_API_KEY',
    dependencies: { '@ai-sdk/google': '^4.0.98' },
    model: 'gemini-2.5-flash',
    key: 'GOOGLE_GENERATIVE_AI_API_KEY',
    env: ['GOOGLE_GENERATIVE_AI_API_KEY=', '# BYREF_MODEL={{model}}'],
  },
  'openai-compatible': {
    hint: 'Ollama, vLLM, llama.cpp and other servers, by their URL',
    dependencies: { '@ai-sdk/openai-compatible': '^3.0.70' },
    model: 'qwen3',
    key: null,
    env: [
      'OPENAI_BASE_URL={{baseUrl}}',
      'BYREF_MODEL={{model}}',
      '# Only for servers that need a key.',
      '# OPENAI_API_KEY=',
    ],
  },
}

/** What `openai-compatible` uses by default: Ollama on this machine. */
export const OLLAMA = 'http://127.0.0.1:11434/v1'

/** What is created if `--yes` leaves everything open. */
export const DEFAULTS = /** @type {const} */ ({
  folder: 'byref-app',
  template: 'chat',
  provider: 'demo',
})

/** @typedef {keyof typeof TEMPLATES} TemplateName */
/** @typedef {keyof typeof PROVIDERS} ProviderName */

export const TEMPLATE_NAMES = /** @type {TemplateName[]} */ (Object.keys(TEMPLATES))
export const PROVIDER_NAMES = /** @type {ProviderName[]} */ (Object.keys(PROVIDERS))
