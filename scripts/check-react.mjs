// Checks @byref/react as users get it: packed, and built into a Vite app and a Next.js app in empty folders. Each is
// opened in Chromium, with a server with the demo model. Run by check-package.mjs: node scripts/check-react.mjs
// byref.tgz folder
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasBrowser, openBrowser } from '../test/e2e/browser.ts'
import { freePort } from './free-port.ts'
import { environment, node, outputOf, QUIET, root, run, say } from './setup.mjs'

/** A page that resets all styles and styles its own elements, without layers. */
const HOSTILE = `
* { margin: 0; padding: 0; box-sizing: content-box }
button { background: red; border: 3px solid red; font-size: 30px; text-transform: uppercase; box-shadow: 0 0 9px red }
p, li, span { color: red; font-size: 25px; line-height: 3 }
form { display: flex; position: sticky; background: white }
section, article, header { display: inline; max-width: 50px }
td, pre, code { color: red; background: red }
h1 { font-size: 40px; margin: 7px }
.flex { display: block }
`

const NEXT = {
  'next.config.mjs': `export default {
  // Compression would hold back the events of a stream.
  compress: false,
  async rewrites() {
    const destination = \`\${process.env.BYREF_URL}/:path*\`
    // As in docs/guides/react.md, and for the workbench of app/server, which has no client of its own.
    return [
      { source: '/byref/:path*', destination },
      { source: '/api/:path*', destination: \`\${process.env.BYREF_URL}/api/:path*\` },
    ]
  },
}
`,
  'app/layout.jsx': `import '@byref/react/styles.css'
import './page.css'

export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>
}
`,
  'app/page.css': HOSTILE,
  'app/page.jsx': `import { Chat } from './chat'

export default function Page() {
  return <main><h1>Weather desk</h1><Chat /></main>
}
`,
  'app/chat.jsx': `'use client'
import { ByrefProvider, Conversation } from '@byref/react'
import { createClient } from 'byref/client'

const client = createClient({ baseUrl: '/byref' })

export function Chat() {
  return <ByrefProvider client={client}><div style={{ height: 600 }}><Conversation /></div></ByrefProvider>
}
`,
  // The entries are client components.
  'app/server/page.jsx': `import { MessageContent } from '@byref/react'
import { Workbench } from '@byref/react/workbench'

export default function Page() {
  return <div style={{ height: 600 }}>{typeof MessageContent === 'string' ? null : <Workbench path="/" />}</div>
}
`,
}

const [tarball, folder] = process.argv.slice(2)
const env = environment({ NEXT_TELEMETRY_DISABLED: '1' })
const packed = pack()
const { devDependencies } = JSON.parse(readFileSync(join(root, 'web/package.json'), 'utf8'))
const chat = JSON.parse(
  readFileSync(join(root, 'packages/create-byref/templates/chat/package.json'), 'utf8'),
)

const vite = installVite()
const next = installNext()
const port = await freePort()
const server = await startServer(`http://127.0.0.1:${port}`)
try {
  say('── @byref/react: an app with Vite')
  run(node, ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'], { cwd: vite, env })
  const preview = ['node_modules/vite/bin/vite.js', 'preview', '--host', '127.0.0.1']
  await check(vite, preview, /Local/, '/workbench.html')
  say('── @byref/react: an app with Next.js')
  run(node, ['node_modules/next/dist/bin/next', 'build'], { cwd: next, env: withServer() })
  const start = ['node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1']
  await check(next, start, /Ready/, '/server')
} finally {
  await stop(server.process)
}

/** Packs @byref/react, and checks its content. */
function pack() {
  const args = ['pack', '--json', '--workspace', '@byref/react', '--pack-destination', folder]
  const text = outputOf('npm', args, { env })
  const [{ filename, files, size }] = JSON.parse(text.slice(text.indexOf('[\n')))
  const paths = files.map(({ path }) => path)
  assert.deepEqual(
    paths.filter((path) => /\.test\.|testing\/|node_modules|tsconfig|\.mjs$/.test(path)),
    [],
  )
  for (const path of [
    'README.md',
    'LICENSE',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/styles.css',
  ])
    assert(paths.includes(path), `The package has no ${path}`)
  say(`${filename}: ${Math.round(size / 1024)} kB, ${files.length} files`)
  const file = join(folder, filename)
  run(node, ['node_modules/publint/src/cli.js', file, '--strict'])
  const attw = ['node_modules/@arethetypeswrong/cli/dist/index.js', file, '--profile', 'esm-only']
  run(node, [...attw, '--exclude-entrypoints', './styles.css'])
  return file
}

/** The unchanged example, in a page with its own rules. */
function installVite() {
  const app = join(folder, 'react-vite')
  cpSync(join(root, 'examples/react'), app, { recursive: true })
  rmSync(join(app, 'node_modules'), { recursive: true, force: true })
  const page = readFileSync(join(app, 'index.html'), 'utf8')
  writeFileSync(
    join(app, 'index.html'),
    page.replace('</head>', `<style>${HOSTILE}</style></head>`),
  )
  install(app, JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')))
  writeFileSync(
    join(app, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'ES2024',
        module: 'ESNext',
        moduleResolution: 'Bundler',
        jsx: 'react-jsx',
        strict: true,
        noEmit: true,
        types: ['vite/client'],
        allowImportingTsExtensions: true,
        // Our own declarations, and those that they import, must be complete by themselves.
        skipLibCheck: false,
      },
      include: ['src'],
    }),
  )
  run(node, [join(root, 'node_modules/typescript/bin/tsc'), '-p', app])
  return app
}

function installNext() {
  const app = join(folder, 'react-next')
  for (const [name, text] of Object.entries(NEXT)) {
    mkdirSync(join(app, name, '..'), { recursive: true })
    writeFileSync(join(app, name), text)
  }
  const { next, react } = chat.dependencies
  install(app, { dependencies: { next, react, 'react-dom': react } })
  return app
}

function install(app, manifest) {
  const own = { byref: `file:${tarball}`, '@byref/react': `file:${packed}` }
  const types = { '@types/react': devDependencies['@types/react'] }
  const whole = {
    name: 'app',
    private: true,
    type: 'module',
    ...manifest,
    dependencies: { ...manifest.dependencies, ...own },
    devDependencies: {
      ...manifest.devDependencies,
      ...types,
      '@types/react-dom': devDependencies['@types/react-dom'],
    },
  }
  writeFileSync(join(app, 'package.json'), JSON.stringify(whole))
  run('npm', ['install', ...QUIET], { cwd: app, env })
}

/** The server of the packed package, with the demo model. */
async function startServer(origin) {
  const bin = join(vite, 'node_modules/byref/bin/byref.mjs')
  const data = join(folder, 'react-data')
  // Next.js sends the URL of the server instead of the page's own.
  const args = ['serve', '--port', '0', '--data', data, '--log', 'silent', '--allow-origin', origin]
  const own = Object.fromEntries(
    Object.entries(env).filter(([name]) => !/_API_KEY|^OPENAI_/.test(name)),
  )
  const child = spawn(node, [bin, ...args], { env: own, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const part of child.stdout.iterator({ destroyOnReturn: false })) {
    text += part
    const [url] = /http:\/\/\S+/.exec(text) ?? []
    if (url && text.includes('\n', text.indexOf(url))) {
      child.stdout.resume()
      return { url, process: child }
    }
  }
  throw new Error(`byref serve ended: ${text}`)
}

function withServer() {
  return { ...env, BYREF_URL: server.url }
}

/** Starts a built app, and asks something on its page and in the whole workbench. */
async function check(app, args, ready, workbench) {
  const child = spawn(node, [...args, '--port', String(port)], {
    cwd: app,
    env: withServer(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const output = child.stdout.iterator({ destroyOnReturn: false })
    for await (const text of output) if (ready.test(text)) break
    child.stdout.resume()
    if (hasBrowser) await checkPages(`http://127.0.0.1:${port}`, workbench)
    else assert(!process.env.BYREF_REQUIRE_BROWSER, 'There is no browser for this machine')
  } finally {
    await stop(child)
  }
}

async function checkPages(url, workbench) {
  const browser = await openBrowser()
  try {
    const page = await browser.newPage({ colorScheme: 'dark' })
    const errors = []
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('console', (line) => {
      if (line.type() === 'error') errors.push(line.text())
    })
    await page.goto(url)
    await checkPane(page)
    await page.goto(`${url}${workbench}`)
    await checkWorkbench(page)
    assert.deepEqual(errors, [])
  } finally {
    await browser.close()
  }
}

/** Asks a question, and checks the styles of the pane and of the app around it. */
async function checkPane(page) {
  await ask(page)
  await page.getByRole('button', { name: 'Message actions' }).first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menu').waitFor()
  const styles = await page.evaluate(() => {
    const of = (selector) => getComputedStyle(document.querySelector(selector))
    const { display, fontSize, color } = of('.byref')
    return {
      root: [display, fontSize, color],
      button: [
        of('.byref form button[type=submit]').borderRadius,
        of('.byref form button').borderWidth,
        of('.byref form button').textTransform,
        of('.byref form button').boxShadow,
      ],
      text: [of('.byref article p').color, of('.byref article p').fontSize],
      form: [of('.byref form').display, of('.byref form').position],
      menu: of('[role=menu]').backgroundColor,
      h1: [of('h1').fontSize, of('h1').marginTop],
      body: of('body').backgroundColor,
    }
  })
  assert.deepEqual(styles, {
    root: ['flex', '13px', 'rgb(237, 237, 239)'],
    button: ['8px', '0px', 'none', 'none'],
    text: ['rgb(237, 237, 239)', '13px'],
    form: ['block', 'static'],
    // The tokens of the theme apply to floating elements, and the app is not affected.
    menu: 'rgb(25, 27, 30)',
    h1: ['40px', '7px'],
    body: 'rgba(0, 0, 0, 0)',
  })
}

/** Asks a question in the whole workbench, opens a tab of the inspector, and finds the conversation in the list. */
async function checkWorkbench(page) {
  await ask(page)
  await page.getByRole('tab', { name: 'Prompt' }).click()
  await page.getByRole('tabpanel', { name: 'Prompt' }).getByText('Instructions').first().waitFor()
  const list = page.getByRole('navigation', { name: 'Conversations' })
  await list
    .getByRole('link', { name: /What can you do/ })
    .first()
    .waitFor()
}

async function ask(page) {
  await page.getByRole('textbox', { name: 'Message' }).fill('What can you do?')
  await page.getByRole('button', { name: 'Send' }).click()
  await page
    .getByRole('article', { name: /^Message from/ })
    .nth(1)
    .waitFor()
  await page.getByText('Enter to send').waitFor()
}

async function stop(child) {
  if (child.exitCode !== null) return
  const ended = once(child, 'close')
  child.kill()
  child.stdout.resume()
  await ended
}
