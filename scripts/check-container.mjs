// Runs the steps of the Dockerfile without a container: in an empty folder, with the packed package, on loopback.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { environment, node, root, run, say } from './setup.mjs'

/** Runs the Dockerfile's RUN, CMD and HEALTHCHECK, with the token of its comment, in a subfolder. */
export async function checkContainer({ tarball, folder }) {
  const lines = readFileSync(join(root, 'Dockerfile'), 'utf8').split('\n')
  const steps = (keyword) =>
    lines
      .filter((line) => line.startsWith(keyword))
      .map((line) => line.slice(keyword.length).trim())
  const app = join(folder, 'app')
  const data = join(folder, 'data')
  mkdirSync(app)
  copyFileSync(tarball, join(app, 'byref.tgz'))
  const env = environment({ NODE_ENV: 'production' })
  for (const step of steps('RUN ')) {
    const here = step.replaceAll('/data', data).replace(/ && chown \w+ \S+/, '')
    run('sh', ['-c', here], { cwd: app, env })
  }
  if (existsSync(join(app, 'byref.tgz'))) throw new Error('The package stays in the image')

  const [command] = steps('CMD ').map((text) => JSON.parse(text))
  const local = { '/data': data, '0.0.0.0': '127.0.0.1' }
  const [bin, ...args] = command.map((part) => local[part] ?? part)
  // Runs it by this Node, because the Node of the machine may be older than that of the image.
  const server = spawn(node, [bin, ...args, '--port', '0'], {
    cwd: app,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(server, 'close')
  try {
    const url = await address(server)
    const token = shell(/npx (byref token.*)/.exec(lines.join('\n'))[1], { app, data, env })
    const info = `${url}/api/info`
    const statuses = [
      (await fetch(info)).status,
      (await fetch(info, { headers: { authorization: `Bearer ${token}` } })).status,
    ]
    if (String(statuses) !== '401,200') throw new Error(`The server answers ${statuses}`)
    const [, check] = /^HEALTHCHECK CMD (.*)$/m.exec(lines.join('\n'))
    const [, ...probe] = JSON.parse(check)
    const port = new URL(url).port
    run(
      node,
      probe.map((part) => part.replace('4114', port)),
      { cwd: app, env },
    )
    say(`${url} answers who has a token, and is healthy`)
  } finally {
    server.kill('SIGTERM')
    const [code] = await ended
    if (code !== 0) {
      say(`At SIGTERM the server ended with status ${code}`)
      process.exitCode = 1
    }
  }
}

function shell(command, { app, data, env }) {
  const [name, ...args] = command.replace('/data', data).split(' ')
  const bin = join('node_modules/.bin', name)
  const { status, stdout, stderr } = spawnSync(node, [bin, ...args], {
    cwd: app,
    env,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${command} ended with status ${status}: ${stderr}`)
  return stdout.trim()
}

async function address(server) {
  let output = ''
  server.stderr.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  server.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  while (!/^model /m.test(output)) {
    if (server.exitCode !== null) throw new Error(`The server ended: ${output}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return /http:\S+/.exec(output)[0]
}
