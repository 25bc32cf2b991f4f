import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')

describe('Dockerfile', () => {
  const [, installed = ''] = /npm install (.*)/.exec(read('Dockerfile')) ?? []

  it('installs the package of every model that the environment may name', () => {
    const { peerDependencies } = JSON.parse(read('package.json'))
    const models = Object.keys(peerDependencies).filter((name) => name.startsWith('@ai-sdk/'))
    expect(models.length).toBeGreaterThan(3)
    expect(models.filter((name) => !installed.split(' ').includes(name))).toEqual([])
  })
})

describe('compose.yaml', () => {
  it('gives a writable folder to each server that needs one, and to no other', () => {
    const { services, volumes } = parse(read('compose.yaml'), { merge: true })
    for (const name of ['byref', 'server']) {
      const [volume, path] = services[name].volumes[0].split(':')
      expect(Object.keys(volumes)).toContain(volume)
      expect(path).toBe('/data')
    }
    expect(services.server.command).toContain('/data')
    expect(services.worker.environment.BYREF_BUCKET).toBe('byref')
  })
})
