import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Folders that are not part of a call's path: pure code, storage and logs. Also the scripted model of the test. */
const AROUND = /^(core|assets|log|sqlite|postgres)\/|^models\/answer-stream\.ts$/

describe('one tool call, from the answer of the model to its next prompt', () => {
  const script = 'test/rules/fixtures/trace-call.ts'
  const flags = ['--disable-warning=ExperimentalWarning', '--conditions=byref-source']
  const printed = execFileSync(process.execPath, [...flags, script], {
    cwd: root,
    encoding: 'utf8',
  })
  const ran = (JSON.parse(printed) as string[]).filter((file) => !AROUND.test(file))

  it('passes through the modules that docs/concepts/how-it-works.md lists', () => {
    expect(ran).toEqual(
      expect.arrayContaining([
        'boundary/boundary.ts',
        'boundary/resolve.ts',
        'boundary/store.ts',
        'engine/calls/call-runner.ts',
        'engine/calls/execute-call.ts',
        'engine/calls/record-call.ts',
        'engine/conversation-runner.ts',
        'engine/session.ts',
        'engine/steps/ask-model.ts',
        'policies/policy.ts',
      ]),
    )
  })

  it('passes through no module of trust if trust is off', () => {
    expect(ran.filter((file) => file.includes('trust'))).toEqual([])
  })

  it('runs few modules', () => {
    expect(ran.length, ran.join('\n')).toBeLessThanOrEqual(46)
  })
})
