import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

describe('stopSignal', () => {
  it('always handles a signal, so the system does not end the process at once', () => {
    const program = `
      import { stopSignal } from ${JSON.stringify(new URL('stop-signal.ts', import.meta.url).href)}
      const stop = stopSignal()
      process.emit('SIGTERM')
      const counts = [process.listenerCount('SIGTERM')]
      stop.then(() => {
        counts.push(process.listenerCount('SIGTERM'))
        process.emit('SIGTERM')
        process.emit('SIGINT')
        console.log(counts.join())
      })
    `
    const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module']
    const { stdout, status } = spawnSync(process.execPath, [...flags, '--eval', program])
    expect(`${stdout}`).toBe('1,1\n')
    expect(status).toBe(0)
  })
})

describe('onFirst', () => {
  it('treats two Ctrl-C signals, from the group and from the parent, as one', () => {
    const program = `
      import { onFirst } from ${JSON.stringify(new URL('stop-signal.ts', import.meta.url).href)}
      let told = 0
      onFirst(['SIGINT'], () => told++)
      const emitted = [process.emit('SIGINT'), process.emit('SIGINT')]
      console.log(emitted.join(), told, process.listenerCount('SIGINT'))
    `
    const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module']
    const { stdout, status } = spawnSync(process.execPath, [...flags, '--eval', program])
    expect([`${stdout}`, status]).toEqual(['true,true 1 1\n', 0])
  })
})
