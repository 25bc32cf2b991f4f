import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { linkedSources, root } from '../.vitepress/pages.ts'

/** A page for each file that the docs link to, with its text. */
export default {
  paths: () =>
    linkedSources().map((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      const language = extname(file).slice(1) || 'text'
      return { params: { file }, content: `# ${file}\n\n\`\`\`\`${language}\n${text}\n\`\`\`\`\n` }
    }),
}
