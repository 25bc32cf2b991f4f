import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ProjectFolder, packageName } from './project-folder.mjs'

const root = mkdtempSync(join(tmpdir(), 'create-byref-folder-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

describe('packageName', () => {
  it('is the name of the folder', () => {
    expect(packageName('/home/ada/my-app')).toBe('my-app')
  })

  it.each([
    ['/home/ada/My App', 'Try "my-app"'],
    ['/home/ada/_hidden', 'Try "hidden"'],
    ['/home/ada/fs', 'Choose another folder'],
    ['/', 'Choose another folder'],
  ])('rejects %s', (folder, message) => {
    expect(() => packageName(folder)).toThrow(message)
  })
})

describe('ProjectFolder', () => {
  it('removes the folders that it created', () => {
    const folder = new ProjectFolder(join(root, 'a/b/c'))
    folder.create()
    writeFileSync(join(folder.path, 'x'), '')
    folder.remove()
    expect(existsSync(join(root, 'a'))).toBe(false)
  })

  it('keeps what was there before', () => {
    const path = join(root, 'before')
    mkdirSync(join(path, '.git'), { recursive: true })
    const folder = new ProjectFolder(path)
    folder.create()
    mkdirSync(join(path, 'node_modules/a'), { recursive: true })
    folder.remove()
    expect(readdirSync(path)).toEqual(['.git'])
  })

  it('rejects a folder with files, and a file', () => {
    const path = join(root, 'full')
    mkdirSync(path)
    writeFileSync(join(path, 'notes.txt'), '')
    expect(() => new ProjectFolder(path)).toThrow('is not empty: it has notes.txt. Choose')
    for (const name of ['o.txt', 'p.txt']) writeFileSync(join(path, name), '')
    expect(() => new ProjectFolder(path)).toThrow('it has notes.txt and 2 other files or folders.')
    expect(() => new ProjectFolder(join(path, 'notes.txt'))).toThrow('is a file')
  })
})
