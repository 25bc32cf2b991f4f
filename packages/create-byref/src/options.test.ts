import { describe, expect, it } from 'vitest'
import { answersOf } from './ask.mjs'
import { PROVIDER_NAMES, TEMPLATE_NAMES } from './choices.mjs'
import { checkSwallowed, checkTogether, HELP, parseOptions } from './options.mjs'

describe('parseOptions', () => {
  it('leaves missing options undefined', () => {
    expect(parseOptions([])).toMatchObject({
      folder: null,
      template: null,
      provider: null,
      yes: false,
      install: true,
      git: false,
    })
  })

  it('reads a folder and flags', () => {
    const args = ['my-app', '-t', 'terminal', '--provider=openai', '--no-install', '--git']
    expect(parseOptions(args)).toMatchObject({
      folder: 'my-app',
      template: 'terminal',
      provider: 'openai',
      install: false,
      git: true,
    })
  })

  it.each([
    [
      ['--template', 'termnal'],
      'Unknown template "termnal". Did you mean "terminal"? Valid: chat, ',
    ],
    [['--template', 'MCP'], 'Unknown template "MCP". Valid: chat, terminal, mcp-proxy'],
    [['--provider', 'antropic'], 'Did you mean "anthropic"?'],
    [['--client', 'claude'], 'Unknown client "claude".'],
    [['--templat', 'chat'], 'Unknown flag --templat. Did you mean "--template"?'],
    [['--template'], '--help lists the flags'],
    [['a', 'b'], 'Unexpected argument "b"'],
    [['--base-url', 'localhost'], '--base-url takes a URL such as'],
    [['--model', 'a b'], '--model takes the name of a model'],
    [['--provider', 'openai', '--base-url', 'http://a'], 'goes with --provider openai-compatible'],
    [['--provider', 'demo', '--model', 'x'], '--model needs another provider'],
    [['--template', 'chat', '--client', 'cursor'], '--client goes with --template mcp-proxy'],
  ])('rejects %j', (args, message) => {
    expect(() => parseOptions(args)).toThrow(message)
  })

  it('lists all names in the help', () => {
    for (const name of [...TEMPLATE_NAMES, ...PROVIDER_NAMES]) expect(HELP).toContain(name)
  })
})

describe('checkSwallowed', () => {
  it('explains how npm passes flags on', () => {
    // npm 11 passes the value of an unknown flag as an argument.
    const env = { npm_config_template: 'true', npm_config_base_url: 'true' }
    expect(() => checkSwallowed(['my-app', 'terminal'], env)).toThrow(
      'npm has taken --template, --base-url. Write -- before the flags: npm create byref my-app -- --template …',
    )
    checkSwallowed(['my-app'], {})
    checkSwallowed(['my-app', '--template', 'chat'], env)
  })
})

describe('answersOf', () => {
  it('names missing answers', () => {
    expect(() => answersOf(parseOptions(['--template', 'chat']))).toThrow(
      'There is no terminal to ask in. Missing: a folder, such as byref-app, --provider demo|',
    )
  })

  it('uses the defaults with --yes', () => {
    expect(answersOf(parseOptions(['--yes']))).toMatchObject({
      folder: 'byref-app',
      template: 'chat',
      provider: 'demo',
    })
  })

  it('accepts the URL of a server as provider', () => {
    const answers = answersOf(parseOptions(['--yes', '--base-url', 'http://127.0.0.1:8000/v1']))
    expect(answers.provider).toBe('openai-compatible')
  })

  it('checks the defaults together with the flags', () => {
    const answers = answersOf(parseOptions(['--yes', '--client', 'cursor']))
    expect(() => checkTogether(answers)).toThrow('--client goes with --template mcp-proxy')
  })
})
