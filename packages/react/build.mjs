// Builds dist: JavaScript and declarations by TypeScript, styles.css by Tailwind CSS. Run by Node 24.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import tailwind from '@tailwindcss/vite'
import { build } from 'vite'
import { scopeStyles } from './scope-styles.ts'

const root = fileURLToPath(new URL('.', import.meta.url))
const typescript = createRequire(import.meta.url).resolve('typescript/package.json')
const tsc = new URL('bin/tsc', new URL(`file://${typescript}`))

rmSync(new URL('dist', import.meta.url), { recursive: true, force: true })
// The types of byref come from its declarations, as they do for users.
for (const project of ['../../tsconfig.build.json', 'tsconfig.build.json']) {
  const args = [fileURLToPath(tsc), '-p', project]
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

await build({
  root,
  configFile: false,
  logLevel: 'warn',
  plugins: [tailwind()],
  css: { postcss: { plugins: [scopeStyles] } },
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    copyPublicDir: false,
    target: 'es2023',
    rolldownOptions: {
      input: fileURLToPath(new URL('src/styles.css', import.meta.url)),
      output: { assetFileNames: 'styles[extname]' },
    },
  },
})
