import { fileURLToPath } from 'node:url'
import workbench from '@byref/web/vite.config.ts'
import { mergeConfig } from 'vite'

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default mergeConfig(workbench, {
  root: folder('.'),
  publicDir: folder('../../web/public'),
  build: { outDir: folder('./dist') },
})
