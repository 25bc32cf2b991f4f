import { describe, expect, it } from 'vitest'
import { packageManagerOf, scriptCommand } from './package-manager.mjs'

describe('packageManagerOf', () => {
  it.each([
    ['npm/11.0.0 node/v24.0.0 linux x64 workspaces/false', 'npm'],
    ['pnpm/10.0.0 npm/? node/v24.0.0 linux x64', 'pnpm'],
    ['yarn/4.0.0 npm/? node/v24.0.0 linux x64', 'yarn'],
    ['bun/1.2.0 npm/? node/v24.0.0 linux x64', 'bun'],
    ['other/1.0.0', 'npm'],
    [undefined, 'npm'],
  ])('of %s is %s', (userAgent, manager) => {
    expect(packageManagerOf(userAgent)).toBe(manager)
  })
})

describe('scriptCommand', () => {
  it('is the command that a person types', () => {
    expect(scriptCommand('npm', ['start', '--resume'])).toBe('npm run start -- --resume')
    expect(scriptCommand('yarn', ['start', '--resume'])).toBe('yarn run start --resume')
  })
})
